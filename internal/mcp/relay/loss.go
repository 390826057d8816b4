package relay

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

func (l Loss) class() verdict.Class { return cmp.Or(l.Class, verdict.Crash) }

func (l Loss) code() int {
	if l.Kind == Cut {
		return codeCrashed
	}
	return codeStart
}

func (l Loss) text(s *Settings, k *call) string {
	switch {
	case l.Text != "":
		return l.Text
	case l.Kind == Cut:
		return messages.CallCut(s.Name, l.How, k.method, k.tool)
	}
	return messages.CallNotDone(s.Name, l.How)
}

// losses decides what becomes of requests that a remote server has left unanswered: there each fails by itself, and the server may live.
type losses struct {
	settings   *Settings
	alarm      *alarm
	life       *life
	calls      *calls
	leaving    *leaving
	admission  *admission
	report     *report
	outbox     *outbox
	repeats    *repeats
	succession *succession
}

// undoneTries is how often a request is sent that the server has not carried out: a server that forgets each session would
// have it sent for ever.
const undoneTries = 3

// take is called when there will be no answer to the request with that id. body is what was sent.
func (c *losses) take(generation int, id string, body []byte, l Loss) {
	if l.Answered && generation == c.life.generation && c.life.isAlive() {
		defer c.outbox.release()
	}
	k := c.calls.at(generation, id)
	if k == nil {
		return
	}
	lost := Incident{text: messages.OnServer(l.How), took: k.age(), class: l.class()}
	switch {
	case k.reply != nil:
		c.calls.forget(k)
		k.reply(nil, l.How)
	case k.cancelled:
		c.calls.forget(k)
	case k.listens && l.Kind != Refused && !c.leaving.closing:
		c.calls.suspend(k)
		c.succession.listenAt = time.Now().Add(backoff().BaseDelay * 10)
		c.alarm.set(c.succession.listenAt)
	case l.Kind == Undone && !c.leaving.closing && c.life.last == nil && k.undone < undoneTries:
		c.calls.forget(k)
		k.undone++
		if k.line == nil {
			k.line = body
		}
		c.outbox.hold(k)
		c.outbox.release()
	case l.Kind == Cut && c.repeats.may(k):
		c.calls.forget(k)
		c.repeats.again(k, l.How, lost)
		c.outbox.release()
	default:
		c.calls.forget(k)
		c.report.fail(k, l.code(), l.text(c.settings, k), lost)
		if l.Kind != Undone {
			c.admission.lost(k.sent, l.How)
		}
	}
}
