package engine

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// transcript is what an attempt prints: it is taken while it comes, read for what it says, and passed on to the caller at
// once or when the attempt is known to count.
type transcript interface {
	// end says that the process has ended.
	end()
	// outcome fills in what there is of the output for the profile to look at.
	outcome(o *verdict.Outcome)
	// judge is what the profile makes of the outcome. exited says that the command ended by itself.
	judge(o verdict.Outcome, exited bool, now time.Time) verdict.Verdict
	// exitCode is what the command would have ended with if it had been started as the caller wrote it.
	exitCode(code int) int
	// excerpt is what there is of stdout for rules of the caller's.
	excerpt() verdict.Excerpt
	// account is what the attempt has done, as far as it tells.
	account() agent.Account
	// hasDelivered reports whether the result is there, though the process may go on.
	hasDelivered() bool
	// busy reports whether a tool runs.
	busy() bool
	// stoppedEarly is why the attempt was stopped before its time; nil if it was not.
	stoppedEarly() *earlyStop
	// unread reports whether the attempt was stopped because its output is not read any more.
	unread() bool
	// incomplete is why there is less of the output than the command has printed; nil if all of it was kept or passed on.
	incomplete() error
	// final says why there can be no further attempt, whatever came of this one; empty if nothing speaks against another.
	final() string

	// deliver passes on what was held.
	deliver() error
	// discard drops what was held, but for the standard error: a reader of events may show it later.
	discard()
	// replace puts other output in the place of what was held.
	replace(stdout string)
	// output is what the command has printed, or of an agent its answer, where that was held or kept; else nil.
	output() *Output
	// stderr is the same of its standard error.
	stderr() *Output
	// silent says that the attempt has failed and that what was passed on does not say why, which is given.
	silent(why string) bool
	// describe puts into a line of the log what the output tells.
	describe(e *journal.Entry, a *agent.Account)
	// version is the version of the CLI, where it has told.
	version() string
}

// earlyStop is why an attempt was stopped before its time: the CLI would go on with retries that we do not allow, with
// model calls that cost more than they may, with another model than the one that is required, or above a ceiling.
type earlyStop struct {
	verdict verdict.Verdict
	stop    *retry.Error // nil if that is for the verdict to say
	tell    string       // of a ceiling: what an agent that continues is told; else empty
}

// forModel says that it was stopped for its model.
func (e *earlyStop) forModel() bool { return e != nil && e.verdict.Class == verdict.WrongModel }

// forCost says that it was stopped for its cost.
func (e *earlyStop) forCost() bool {
	if e == nil || e.stop == nil {
		return false
	}
	_, ok := errors.AsType[*belaytype.MaxCostReached](e.stop.Cause)
	return ok
}

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
func (*streams) hasDelivered() bool                      { return false }
func (*streams) busy() bool                              { return false }
func (*streams) stoppedEarly() *earlyStop                { return nil }
func (*streams) unread() bool                            { return false }
func (t *streams) incomplete() error                     { return t.out.incomplete() }
func (*streams) silent(string) bool                      { return false }
func (*streams) describe(*journal.Entry, *agent.Account) {}

// newSink decides what becomes of one stream: handed over as it is, passed on live, or held. repeats says that there may be
// more than one attempt.
func newSink(c *call, w io.Writer, stdout, repeats bool, ad admission) (*sink, io.Writer) {
	_, isFile := w.(*os.File)
	kept := c.runner.Keep || c.checks()
	reported := kept || c.command.Stdout == nil
	// Others wait for the first answer, which of a generic command is the first thing it prints.
	leased := stdout && ad.leased()
	if isFile && !repeats && !c.profile.Reads() && lower(c.runner.Stall, c.runner.AtMost.Stall) <= 0 && !reported && !leased {
		return nil, w
	}
	s := &sink{capture: verdict.NewCapture(verdict.DefaultHead, verdict.DefaultTail), live: w, checked: stdout && c.checks()}
	if w == nil {
		s.live = io.Discard
	}
	if leased {
		s.first = ad.pass.Answered
	}
	switch {
	case w == nil && stdout:
		s.held = c.newOutput()
		s.held.spare = maxSpare
	case repeats && !c.runner.Stream:
		s.held = c.newOutput()
		if s.checked { // the check needs all of it
			s.held.spare = maxSpare
		}
	case kept && stdout:
		s.kept = c.newOutput()
		s.kept.spare = maxSpare
	}
	return s, s
}

// sameFile reports whether both streams go to one file.
func sameFile(a, b io.Writer) bool {
	f, ok := a.(*os.File)
	g, ok2 := b.(*os.File)
	if !ok || !ok2 {
		return false
	}
	return sameOpenFile(f, g)
}
