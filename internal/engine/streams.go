package engine

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/verdict"
)

// streams is the transcript of a command whose output is passed on as it is.
type streams struct {
	call     *call
	out, err *sink
	merged   bool           // out has both streams
	listener agent.Listener // reads both streams of a caller; nil if there is none
	filter   io.WriteCloser // what the listener takes out of stderr
	used     agent.Account  // what is known of a plain command
}

// newStreams is the transcript of an attempt of a plain command, or of a caller with its listener. It returns the writers
// that take the streams.
func newStreams(c *call, repeats bool, ad admission, listener agent.Listener) (t *streams, stdout, stderr io.Writer) {
	t = &streams{call: c, listener: listener}
	t.out, stdout = newSink(c, c.command.Stdout, true, repeats, ad)
	t.err, stderr = newSink(c, c.command.Stderr, false, repeats, ad)
	if listener != nil {
		t.filter = listener.Stderr(stderr)
		return t, stdout, t.filter
	}
	if t.out.holds() && t.err.holds() && sameFile(c.command.Stdout, c.command.Stderr) {
		t.err, t.merged = nil, true // 2>&1: what is held must keep its order
		return t, stdout, stdout
	}
	return t, stdout, stderr
}

func (t *streams) end() {
	if t.filter != nil {
		t.filter.Close()
	}
}

func (t *streams) outcome(o *verdict.Outcome) {
	o.Stdout, o.Stderr = t.out.excerpt(), t.err.excerpt()
	if t.merged && t.call.traits.changes {
		o.Stderr = o.Stdout // what it says of its failure is in there
	}
}

func (t *streams) judge(o verdict.Outcome, exited bool, now time.Time) verdict.Verdict {
	switch {
	case !exited:
		return verdict.Verdict{}
	case t.listener != nil:
		return t.listener.Judge(o, now)
	}
	return t.call.profile.Judge(o, now)
}

func (t *streams) account() agent.Account {
	a := t.used
	if t.listener != nil {
		a.Requests = t.listener.Requests()
	}
	return a
}

func (t *streams) version() string {
	if t.listener == nil {
		return ""
	}
	return t.listener.Version()
}

func (t *streams) final() string {
	for _, s := range []*sink{t.err, t.out} {
		if why := s.final(); why != "" {
			return why
		}
	}
	return ""
}

func (t *streams) deliver() error { return errors.Join(t.out.deliver(), t.err.deliver()) }

func (t *streams) discard() {
	t.out.output().Close()
	t.err.drop()
}

func (t *streams) replace(stdout string) {
	t.out.replace(stdout)
	t.err.replace("")
}

func (t *streams) excerpt() verdict.Excerpt              { return t.out.excerpt() }
func (t *streams) output() *Output                       { return t.out.output() }
func (t *streams) stderr() *Output                       { return t.err.output() }
func (*streams) exitCode(code int) int                   { return code }
func (*streams) worked() bool                            { return false }
func (*streams) toldOfTurns() bool                       { return false }
func (*streams) hasDelivered() bool                      { return false }
func (*streams) busy() bool                              { return false }
func (*streams) stoppedEarly() *earlyStop                { return nil }
func (*streams) unread() bool                            { return false }
func (t *streams) incomplete() error                     { return t.out.incomplete() }
func (*streams) silent(string) bool                      { return false }
func (*streams) describe(*journal.Entry, *agent.Account) {}

// sameFile reports whether both streams go to one file.
func sameFile(a, b io.Writer) bool {
	f, ok := a.(*os.File)
	g, ok2 := b.(*os.File)
	if !ok || !ok2 {
		return false
	}
	return sameOpenFile(f, g)
}
