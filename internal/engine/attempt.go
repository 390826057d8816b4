package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// attempt is one start of the process, and what came of it.
type attempt struct {
	started bool
	exit    supervise.Exit
	code    int // its own, as a shell shows it; -1 if it has none
	// stopCode is the exit code of an invocation that ends because it was told to.
	stopCode int
	verdict  verdict.Verdict
	message  string // what happened, in one line

	recorded bool   // it is on record; what is not is the attempt after it, which does not come
	timedOut bool   // its own hard deadline passed
	expired  bool   // it was stopped by a limit of ours
	again    bool   // its input can be had again
	noRepeat string // why not

	left           []supervise.Proc
	killed         int
	stdout, stderr *sink
	merged         bool        // stdout has both streams
	talk           *transcript // takes the place of stdout where the command is an agent
	account        agent.Account
	listener       agent.Listener // reads both streams of a caller
	requests       int            // of its service, as far as it has told
	stop           *retry.Error   // why there is no further attempt, where that is known already
	refusedAt      time.Time      // when a gate that refused it opens
}

// attempt starts the command once, when the gate lets it, and waits for it.
func (inv *Invocation) attempt(n int) attempt {
	ad, refusal := inv.admit(n)
	if refusal != nil {
		return *refusal
	}
	a := inv.try(n, ad)
	ad.report(&a, inv.command.name())
	inv.warn(ad, &a)
	return a
}

func (inv *Invocation) try(n int, ad admission) attempt {
	var a attempt
	if cause := context.Cause(inv.ctx); cause != nil {
		return inv.stoppedEarly(cause)
	}
	args, env := inv.command.Args, inv.env
	if inv.talk != nil {
		inv.nextSession()
		plan, err := inv.talk.agent.Plan(inv.talk.turn)
		if err != nil {
			return unplanned(err)
		}
		args, env = plan.Args, slices.Concat(inv.env, plan.Env)
		a.talk = inv.newTranscript(n, plan, ad)
		if !inv.talk.traits.Once {
			inv.input = given(plan.Stdin)
		}
	}
	path, err := supervise.Look(args[0], inv.command.Dir)
	if err != nil {
		return refused(err)
	}
	stdin, err := inv.input.open()
	if err != nil {
		return refused(err)
	}
	var stdout, stderr io.Writer = a.talk, nil
	if a.talk == nil {
		a.stdout, stdout = inv.sink(inv.command.Stdout, true, ad)
	}
	a.stderr, stderr = inv.sink(inv.command.Stderr, false, ad)
	var filter io.WriteCloser
	if inv.calls != nil && inv.mayRepeat() {
		a.listener = inv.calls.caller.Listen()
		env = slices.Concat(inv.env, a.listener.Env())
		filter = a.listener.Stderr(stderr)
		stderr = filter
	}
	if filter == nil && a.stdout.holds() && a.stderr.holds() && sameFile(inv.command.Stdout, inv.command.Stderr) {
		a.stderr, stderr, a.merged = nil, stdout, true // 2>&1: what is held must keep its order
	}
	var process *supervise.Process
	heed := func() {}
	ended := make(chan struct{})
	inv.launching()
	exit, err := inv.runner.supervisor().Run(supervise.Spec{
		Path: path, Args: args, Dir: inv.command.Dir, Env: env, RunID: inv.id,
		Stdin: stdin, Stdout: stdout, Stderr: stderr, Placement: inv.placement(),
		Timeout: inv.deadline(), Stall: inv.stall(false), Linger: inv.linger(), Ladder: inv.ladder(),
	}, func(p *supervise.Process) {
		process = p
		inv.running(p)
		if a.talk != nil {
			a.talk.started(p)
		}
		inv.observe(AttemptStarted{Attempt: n, Command: inv.command.name(), PID: p.PID(), Held: a.stdout.holds() || a.talk != nil})
		heed = inv.heedContext(p)
		if ad.leased() && !inv.isConversation() { // whose caller may take hours until the first request
			go ad.renew(ended)
		}
	})
	close(ended)
	heed()
	inv.running(nil)
	if err != nil {
		inv.input.close()
		return refused(err)
	}
	a.started, a.exit = true, exit
	a.code = a.exit.ShellCode()
	a.again = inv.input.close()
	a.left, a.killed = a.exit.Left, a.exit.Killed
	if a.talk != nil {
		a.talk.end()
	}
	if filter != nil {
		filter.Close()
	}
	inv.judge(&a)
	if inv.changes.open(a.verdict) && a.verdict.Sent == "" {
		a.verdict.Sent = verdict.SentMaybe // it did not end by itself
	}
	if a.talk != nil {
		a.account = a.talk.follower.Account()
		a.requests = a.account.Requests
	}
	if a.listener != nil {
		a.requests = a.listener.Requests()
	}
	if _, agents := recall[inv.command.name()]; agents && a.talk == nil {
		a.account.Usage.Unknown = true // an agent that works for a person, and tells nobody else
	}
	inv.cleanUp(&a, process)
	return a
}

// given is the input of an attempt of an agent.
func given(stdin []byte) input {
	if stdin == nil {
		return noInput{}
	}
	return &feed{source: bytes.NewReader(stdin), replay: true}
}

// unplanned is an attempt that cannot work, whatever happens.
func unplanned(err error) attempt {
	a := attempt{again: true, code: CodeUsage, message: err.Error(),
		verdict: verdict.Verdict{Class: verdict.TooLarge, Rule: "plan", Evidence: err.Error(), Sent: verdict.SentNo}}
	var over *agent.UsedUp
	if errors.As(err, &over) {
		a.code, a.verdict.Class = 1, verdict.LimitReached
	}
	return a
}

// linger is how long an agent may stay that has delivered its result. A conversation stays until its caller ends it.
func (inv *Invocation) linger() time.Duration {
	if inv.talk == nil || inv.isConversation() {
		return 0
	}
	return 30 * time.Second
}

// isConversation reports whether the caller drives the agent line by line.
func (inv *Invocation) isConversation() bool { return inv.talk != nil && inv.talk.traits.Once }

// ladder is how the command is stopped when a limit has passed; nil means as any other.
func (inv *Invocation) ladder() supervise.Ladder {
	if inv.talk == nil {
		return nil
	}
	return inv.talk.traits.Ladder
}

// placement says where the command stands to the terminal.
func (inv *Invocation) placement() supervise.Placement {
	switch {
	case inv.profile.Headless():
		return supervise.OwnSession
	case inv.command.Terminal && inv.mayRepeat():
		// It has the terminal as it would have it in a pipeline, and we see a Ctrl-C too: as a job of its own it could
		// handle that, end with 1, and be started again.
		return supervise.SharedGroup
	case inv.command.Terminal:
		return supervise.TerminalPlacement()
	}
	return supervise.OwnGroup
}

// sink decides what becomes of one stream: handed over as it is, passed on live, or held.
func (inv *Invocation) sink(w io.Writer, keep bool, ad admission) (*sink, io.Writer) {
	_, isFile := w.(*os.File)
	reported := inv.runner.Keep || inv.command.Stdout == nil
	// Others wait for the first answer, which of a generic command is the first thing it prints.
	leased := keep && ad.leased()
	if isFile && !inv.mayRepeat() && !inv.profile.Reads() && inv.runner.Stall <= 0 && !reported && !leased {
		return nil, w
	}
	s := &sink{capture: verdict.NewCapture(verdict.DefaultHead, verdict.DefaultTail), live: w}
	if w == nil {
		s.live = io.Discard
	}
	if leased {
		s.first = ad.pass.Answered
	}
	out := &Output{}
	if inv.state != nil {
		out.dir = inv.state.Dir
	}
	switch {
	case inv.mayRepeat() && !inv.runner.Stream, w == nil && keep:
		s.held = out
	case inv.runner.Keep && keep:
		s.kept = out
	}
	return s, s
}

// heedContext stops the process when the context ends. The returned function ends that, and returns once a stop that
// has begun is under way.
func (inv *Invocation) heedContext(p *supervise.Process) (end func()) {
	asked := make(chan struct{})
	disregard := context.AfterFunc(inv.ctx, func() {
		defer close(asked)
		inv.stop(p)
	})
	return func() {
		if !disregard() {
			<-asked
		}
	}
}

// sameFile reports whether both streams go to one file.
func sameFile(a, b io.Writer) bool {
	f, ok := a.(*os.File)
	g, ok2 := b.(*os.File)
	if !ok || !ok2 {
		return false
	}
	fi, err := f.Stat()
	gi, err2 := g.Stat()
	return err == nil && err2 == nil && os.SameFile(fi, gi)
}

// stop ends the process because the context has ended.
func (inv *Invocation) stop(process *supervise.Process) {
	ladder := supervise.Terminate
	reason := "cancelled"
	cause := context.Cause(inv.ctx)
	var i *Interrupt
	switch {
	case errors.As(cause, &i):
		ladder = supervise.Forward(syscall.Signal(i.Signal))
		reason = i.Name
	case errors.Is(cause, retry.ErrTotalTimeout):
		reason = "total timeout"
	}
	if inv.talk != nil {
		ladder = inv.talk.traits.Ladder
	}
	inv.observe(Stopping{Reason: reason})
	process.Stop(ladder)
}

// refused is an attempt that could not be started.
func refused(err error) attempt {
	a := attempt{again: true, code: CodeFailed, message: err.Error(),
		verdict: verdict.Verdict{Class: verdict.Unknown, Rule: "start", Evidence: err.Error(), Sent: verdict.SentNo}}
	switch {
	case errors.Is(err, syscall.E2BIG):
		a.code, a.verdict.Class = CodeUsage, verdict.TooLarge
		a.message = "arguments and environment are too long for this system; pass the text by --prompt-file, --prompt - or in a file"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOEXEC):
		a.code, a.verdict.Class = CodeNotExecutable, verdict.ToolMissing
	case errors.Is(err, fs.ErrNotExist):
		a.code, a.verdict.Class = CodeNotFound, verdict.ToolMissing
		var path *fs.PathError
		if errors.As(err, &path) && path.Op == "exec" { // found, but the interpreter in its first line is not
			a.code = CodeNotExecutable
			a.message = fmt.Sprintf("%s cannot be executed: the interpreter that its first line names is missing", path.Path)
		}
	}
	return a
}

// cleanUp ends what the attempt has left running if it failed, or if that was asked for. A command that nothing
// more was asked for than to be run keeps what it started, as it would without us.
func (inv *Invocation) cleanUp(a *attempt, process *supervise.Process) {
	if len(a.left) == 0 || a.exit.Reason != supervise.Exited {
		return
	}
	ok := a.verdict.Class == verdict.OK
	if ok && inv.runner.Reap || !ok && inv.managed() {
		var killed int
		killed, a.left = process.EndTree()
		a.killed += killed
		return
	}
	if inv.managed() {
		inv.observe(LeftRunning{a.left})
	}
}

// deliver passes on what was held.
func (a *attempt) deliver() error {
	if a.talk != nil {
		return errors.Join(a.talk.deliver(), a.stderr.deliver())
	}
	return errors.Join(a.stdout.deliver(), a.stderr.deliver())
}

// silent says that an agent has failed and the caller does not see why: there is nothing on stdout, and on stderr
// something else. codex says it in an event alone.
func (a *attempt) silent() bool {
	if !a.started || a.talk == nil || a.talk.shown || a.verdict.Class == verdict.OK {
		return false
	}
	why := lastLine(a.verdict.Evidence)
	return why == "" || !strings.Contains(a.stderr.excerpt().Text(), why[:min(len(why), 40)])
}

// output is what the attempt has printed, or of an agent its answer, where that was held or kept.
func (a *attempt) output() *Output {
	if a.talk != nil {
		return a.talk.output()
	}
	return a.stdout.output()
}

// discard drops the output of an attempt that does not count.
func (a *attempt) discard() {
	if a.talk != nil {
		a.talk.discard()
	}
	a.stdout.output().Close()
	a.stderr.output().Close()
}
