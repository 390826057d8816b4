package relay

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/belay-run/belay/internal/mcp/wire"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/retry"
)

// call is a request to the server that has not been answered: the client's, or one of ours.
type call struct {
	request
	arguments
	timing
	tries

	wire       string // what the server knows it by; the client's id, unless it was repeated
	generation int    // of the server that has it
	progressed bool
	cancelled  bool // by the client, which expects no answer any more
	listens    bool // subscriptions/listen: it is meant to last

	// reply takes the answer to one of ours; nil if there is none, and then perhaps how it was lost.
	reply func(m *wire.Message, lost string)
}

// request is what was asked.
type request struct {
	id        string // the client's; empty if it is ours
	method    string
	tool      string
	token     string
	modern    bool // its answer must say resultType
	resume    bool // it goes on with an earlier one
	firstPage bool
	kept      // as the client wrote it, if it may have to be sent (again)
}

// kept is a request that can be sent again under another id.
type kept struct {
	line []byte
	idAt wire.Span
}

func (k kept) as(id string) [][]byte {
	return [][]byte{k.line[:k.idAt.From], []byte(id), k.line[k.idAt.To:]}
}

// arguments are those of a tool.
type arguments struct {
	args     []byte // to hash them if the call fails; nil if they are too large
	argsSize int
}

// timing is when a call began and how long it may take.
type timing struct {
	begun time.Time     // when it was first sent
	sent  time.Time     // zero: it waits
	limit time.Duration // without a sign of progress; 0: none
	due   time.Time     // when that has passed; zero: never
	last  time.Time     // when it is over whatever progress it makes
}

// tries is what has become of a call so far.
type tries struct {
	retries   int       // how often it was sent again
	notBefore time.Time // when that may be done the next time
	undone    int       // how often a remote server has not carried it out
	lost      *Incident // how it was lost the last time, if it was and is sent again
}

func newCall(s *Settings, m *wire.Message) *call {
	k := &call{request: request{id: string(m.ID), method: string(m.Method), token: string(m.Token), modern: m.Modern, resume: m.Resumed,
		firstPage: !m.Cursor, kept: kept{idAt: m.IDAt}}}
	k.wire = k.id
	switch k.method {
	case "tools/call":
		k.tool = string(m.Name)
		if k.argsSize = m.ArgsAt.To - m.ArgsAt.From; k.argsSize > 0 && k.argsSize <= maxHashed {
			k.args = m.AppendTo(nil, m.ArgsAt)
		}
		k.limit = s.limitOf(k.tool)
	case "subscriptions/listen":
		k.listens = true
		k.line = m.Bytes()
	case "initialize", "server/discover":
		k.limit = s.startTimeout()
	default:
		k.limit = s.limitOf("")
	}
	return k
}

// opens says that the call opens the session.
func (r *request) opens() bool { return r.method == "initialize" || r.method == "server/discover" }

// addressed is a kept line under the id that the server is to know it by.
func (k *call) addressed(line []byte) [][]byte {
	if k.wire == k.id {
		return [][]byte{line}
	}
	return kept{line, k.idAt}.as(k.wire)
}

// maxRetries is how often a call may be sent again, if that is safe. What opens a session is sent again once, and at once: a server
// that does not start is not to hold up its client.
func (k *call) maxRetries(s *Settings) int {
	switch {
	case s.NoRetry:
		return 0
	case k.opens():
		return 1
	case s.CallRetries < 0:
		return 0
	}
	return cmp.Or(s.CallRetries, 3)
}

// pause is how long is waited before the call is sent again.
func (k *call) pause() time.Duration {
	if k.opens() {
		return 0
	}
	return retry.Policy{}.Backoff(k.retries) // 1, 2, 4 s
}

// age is how long the server has had the call.
func (t *timing) age() time.Duration {
	if t.sent.IsZero() {
		return 0
	}
	return time.Since(t.sent)
}

// waits says that the call has not been sent, or is to be sent again.
func (t *timing) waits() bool { return t.sent.IsZero() }

// send notes that the call is sent. longest bounds it whatever progress it makes, if that is not 0.
func (t *timing) send(now time.Time, longest time.Duration) {
	t.sent = now
	if t.begun.IsZero() {
		t.begun = now
	}
	t.due, t.last = time.Time{}, time.Time{}
	if t.limit > 0 {
		t.due = now.Add(t.limit)
		if longest > 0 {
			t.last = now.Add(max(t.limit, longest))
		}
	}
}

// startWait is what a waiting call is granted beyond its own limit.
const startWait = 5 * time.Second

// hold notes that the call waits for a server, from a time on; a call without a limit waits for as long as the server may take to start.
func (t *timing) hold(from time.Time, start time.Duration) {
	t.sent = time.Time{}
	t.due = from.Add(cmp.Or(t.limit, start) + startWait)
	t.last = t.due
}

// extend gives a call that was sent its time anew.
func (t *timing) extend(now time.Time) {
	if !t.due.IsZero() {
		t.due = earlier(now.Add(t.limit), t.last)
	}
}

const (
	// maxHashed is the size of the arguments that are kept, as long as a call lasts, to hash them should it fail.
	maxHashed = 1 << 20
	// maxQuoted is how much of a tool's arguments is looked for in its error.
	maxQuoted = 64 << 10
)

// digest is what is put on record of the arguments.
func (a *arguments) digest() digest {
	d := digest{size: a.argsSize}
	if a.args != nil {
		sum := sha256.Sum256(a.args)
		d.sha256 = hex.EncodeToString(sum[:])
	}
	return d
}

// withoutArguments is what a tool says of its failure, without what it quotes of its arguments: longer pieces, and credentials.
func (a *arguments) withoutArguments(text string) string {
	if len(a.args) == 0 {
		return text
	}
	args := []string{string(a.args[:min(len(a.args), maxQuoted)])}
	return (&redact.Known{Quoted: func() []string { return args }}).Text(text)
}

// earlier is the first of two times, of which the second may be never.
func earlier(a, b time.Time) time.Time {
	if b.IsZero() || a.Before(b) {
		return a
	}
	return b
}
