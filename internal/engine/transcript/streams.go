package transcript

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine/admission"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/engine/output"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/verdict"
)

// Streams is the transcript of a command whose output is passed on as it is.
type Streams struct {
	call     *call.Call
	out, err *sink
	merged   bool           // out has both streams
	listener agent.Listener // reads both streams of a caller; nil if there is none
	filter   io.WriteCloser // what the listener takes out of stderr
	used     agent.Account  // what is known of a plain command
}

// NewStreams is the transcript of an attempt of a plain command, or of a caller with its listener. It returns the writers
// that take the streams.
func NewStreams(c *call.Call, repeats bool, ad admission.Admission, listener agent.Listener) (t *Streams, stdout, stderr io.Writer) {
	t = &Streams{call: c, listener: listener}
	t.out, stdout = newSink(c, c.Command.Stdout, true, repeats, ad)
	t.err, stderr = newSink(c, c.Command.Stderr, false, repeats, ad)
	if listener != nil {
		t.filter = listener.Stderr(stderr)
		return t, stdout, t.filter
	}
	if t.out.holds() && t.err.holds() && sameFile(c.Command.Stdout, c.Command.Stderr) {
		t.err, t.merged = nil, true // 2>&1: what is held must keep its order
		return t, stdout, stdout
	}
	return t, stdout, stderr
}

func (t *Streams) End() {
	if t.filter != nil {
		t.filter.Close()
	}
}

func (t *Streams) Outcome(o *verdict.Outcome) {
	o.Stdout, o.Stderr = t.out.excerpt(), t.err.excerpt()
	if t.merged && t.call.Traits.Changes {
		o.Stderr = o.Stdout // what it says of its failure is in there
	}
}

func (t *Streams) Judge(o verdict.Outcome, exited bool, now time.Time) verdict.Verdict {
	switch {
	case !exited:
		return verdict.Verdict{}
	case t.listener != nil:
		return t.listener.Judge(o, now)
	}
	return t.call.Profile.Judge(o, now)
}

func (t *Streams) Account() agent.Account {
	a := t.used
	if t.listener != nil {
		a.Requests = t.listener.Requests()
	}
	return a
}

func (t *Streams) Version() string {
	if t.listener == nil {
		return ""
	}
	return t.listener.Version()
}

func (t *Streams) Final() string {
	for _, s := range []*sink{t.err, t.out} {
		if why := s.final(); why != "" {
			return why
		}
	}
	return ""
}

func (t *Streams) Deliver() error { return errors.Join(t.out.deliver(), t.err.deliver()) }

func (t *Streams) Discard() {
	t.out.output().Close()
	t.err.drop()
}

func (t *Streams) Replace(stdout string) {
	t.out.replace(stdout)
	t.err.replace("")
}

func (t *Streams) Excerpt() verdict.Excerpt              { return t.out.excerpt() }
func (t *Streams) Output() *output.Output                { return t.out.output() }
func (t *Streams) Stderr() *output.Output                { return t.err.output() }
func (*Streams) ExitCode(code int) int                   { return code }
func (*Streams) Worked() bool                            { return false }
func (*Streams) ToldOfTurns() bool                       { return false }
func (*Streams) HasDelivered() bool                      { return false }
func (*Streams) Busy() bool                              { return false }
func (*Streams) StoppedEarly() *EarlyStop                { return nil }
func (*Streams) Unread() bool                            { return false }
func (t *Streams) Incomplete() error                     { return t.out.incomplete() }
func (*Streams) Silent(string) bool                      { return false }
func (*Streams) Describe(*journal.Entry, *agent.Account) {}

// sameFile reports whether both streams go to one file.
func sameFile(a, b io.Writer) bool {
	f, ok := a.(*os.File)
	g, ok2 := b.(*os.File)
	if !ok || !ok2 {
		return false
	}
	return sameOpenFile(f, g)
}

// Held reports whether stdout is held back until the attempt is known to count.
func (t *Streams) Held() bool { return t.out.holds() }

// CostsUnknown says that the command does not tell what it uses.
func (t *Streams) CostsUnknown() { t.used.Usage.Unknown = true }
