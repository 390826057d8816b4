package mcp

import (
	"cmp"
	"time"

	messages "github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/verdict"
)

// Loss is how a request to a remote server came to have no answer.
type Loss struct {
	Kind LossKind
	// How says what happened, after "the server".
	How string
	// Text is what the client is told in place of How, if that is not empty.
	Text string
	// Class is what the record has for it. Empty means a crash.
	Class verdict.Class
	// Answered says that the server has answered, if not the request: it lives.
	Answered bool
}

// LossKind says what may be done about a loss.
type LossKind byte

const (
	// Cut means that the request may have been carried out: it is repeated only if that is safe.
	Cut LossKind = iota
	// Undone means that it was not, and that it can be repeated in another session.
	Undone
	// Refused means that it is not worth repeating now.
	Refused
)

// undoneTries is how often a request is sent that the server has not carried out: a server that forgets each session would
// have it sent for ever.
const undoneTries = 3

// lost is called when a remote server has left a request unanswered.
func (c *core) lost(generation int, m Outgoing, l Loss) {
	if l.Answered && generation == c.generation && !c.suspectAt.IsZero() {
		c.suspectAt = time.Time{}
		defer c.releaseIfReady()
	}
	k := c.calls[m.ID]
	if k == nil || k.generation != generation || k.sent.IsZero() {
		return
	}
	lost := incident{text: messages.OnServer(l.How), took: k.age(), class: l.class()}
	switch {
	case k.reply != nil:
		c.forget(k)
		c.lossHow = l.How
		k.reply(nil)
		c.lossHow = ""
	case k.cancelled:
		c.forget(k)
	case k.listens && l.Kind != Refused && !c.closing:
		delete(c.calls, k.wire) // kept by the session, and sent again
		c.listenAt = time.Now().Add(backoff().BaseDelay * 10)
		c.arm(c.listenAt)
	case l.Kind == Undone && !c.closing && c.last == nil && k.undone < undoneTries:
		c.forget(k)
		k.undone++
		if k.line == nil {
			k.line = m.Body
		}
		c.enqueue(k)
		c.releaseIfReady()
	case l.Kind == Cut && c.mayRepeat(k):
		c.forget(k)
		c.repeat(k, l.How, lost)
		c.releaseIfReady()
	default:
		c.forget(k)
		c.fail(k, codeOf(l), c.lossText(k, l), lost)
		if l.Kind != Undone {
			c.countFailure(k, l)
		}
	}
	if c.closing {
		c.endIfIdle()
	}
}

func (l Loss) class() verdict.Class {
	return cmp.Or(l.Class, verdict.Crash)
}

func codeOf(l Loss) int {
	if l.Kind == Cut {
		return codeCrashed
	}
	return codeStart
}

func (c *core) lossText(k *call, l Loss) string {
	switch {
	case l.Text != "":
		return l.Text
	case l.Kind == Cut:
		return messages.CallCut(c.opt.Name, l.How, k.method, k.tool)
	}
	return messages.CallNotDone(c.opt.Name, l.How)
}

// countFailure tells the gate of a lost request, once for all that were under way together: they tell of one failure.
func (c *core) countFailure(k *call, l Loss) {
	if k.sent.After(c.failedAt) {
		c.failedAt = time.Now()
		c.failed(l.How)
	}
}

// repeat queues a call once more, under an id that the server has not seen.
func (c *core) repeat(k *call, how string, lost incident) {
	c.own++
	k.wire, k.lost = ownID("retry", c.own), &lost
	k.notBefore = time.Now().Add(k.pause())
	k.retries++
	c.enqueue(k)
	c.arm(k.notBefore)
	c.record(incident{event: "retry", text: "sent again after the server " + how, method: k.method, tool: k.tool, passing: true})
}

func (c *core) releaseIfReady() {
	if c.phase == ready {
		c.release()
	}
}
