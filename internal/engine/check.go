package engine

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/engine/input"
	"github.com/belay-run/belay/internal/engine/transcript"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

const checkPrompt = "The work is not done: it did not pass this check. Find out why, finish the work, and make sure that it passes."

// maxFeedback is how much of the end of a check's output an agent is told.
const maxFeedback = 8 << 10

// WithinCheck reports whether this process is part of a check.
func WithinCheck() bool { return strings.Contains(os.Getenv(supervise.RunIDVar), supervise.CheckPart) }

// NoCheck reports whether what a command does cannot be checked: an agent works for a person, or in a conversation.
func NoCheck(p agent.Profile) bool {
	a, ok := p.(agent.Agent)
	return ok && (!a.Headless() || a.Info().Once)
}

// checker runs the checks of an invocation, also those of the work of a fallback.
type checker struct {
	call   *call.Call
	rounds int // how often an agent was told
	failed int // how many checks have failed
	last   *belaytype.Check
	how    string // the last check ended
	told   string // what a line has printed that an agent was told; no log has it
}

// finding is how a check ended.
type finding struct {
	belaytype.Check
	how    string // "failed with exit code 1"
	broken bool   // it could not run to its end, which may be the work's fault or its own
	took   time.Duration
	unmade bool  // there is no shell, or no whole answer
	err    error // why; or that of a function
}

// look has the work of an attempt checked, of which this is the answer. lost is why that is not whole; nil if it is.
func (k *checker) look(cand *candidate, n int, answer *belaytype.Output, lost error) finding {
	begun, line := time.Now(), k.call.Settings.Check.Line
	var soFar belaytype.Result
	cand.kind.account(&soFar)
	doing := agent.Activity{Doing: agent.UsingTool, Tool: "check", Argument: line}
	if k.rounds > 0 {
		doing.Tool = fmt.Sprintf("check, round %d of %d", k.rounds, k.call.Settings.Check.Most())
	}
	cand.call.Report(agent.LineInfo{Activity: doing}, soFar.Usage)
	cand.call.Live.Change(func(rec *supervise.Record) { rec.Activity = "check" })
	cand.call.Emit(belaytype.Checking{Attempt: n, Round: k.rounds, Of: k.call.Settings.Check.Most(), Command: line})
	f := finding{Check: belaytype.Check{Command: line, Rounds: k.rounds, ExitCode: -1}}
	check := cand.call.Command.Check
	switch {
	case lost != nil:
		f.unmade, f.err, f.how = true, lost, "was not made, because the answer could not be kept: "+lost.Error()
	case check != nil:
		f.ask(cand, check, n, answer)
	default:
		f.run(cand, n, answer)
	}
	f.took = time.Since(begun)
	k.last = &f.Check
	return f
}

// ask asks the caller's function.
func (f *finding) ask(cand *candidate, check func(context.Context, *belaytype.Result) error, n int, answer *belaytype.Output) {
	r := &belaytype.Result{ID: cand.call.ID, Success: true, Output: answer, Attempts: n, Profile: cand.call.Profile.Name(), Fallback: cand.fallback}
	cand.kind.account(r)
	if f.err = check(cand.pace.Ctx, r); f.err != nil {
		f.how, f.Output = "was refused", f.err.Error()
		return
	}
	f.Passed = true
}

// run runs the line, in the run's directory and as a part of it. What it leaves running ends with it; what the command has left does not.
func (f *finding) run(cand *candidate, n int, answer *belaytype.Output) {
	c, place := cand.call, cand.placement()
	if place == supervise.Foreground {
		place = supervise.SharedGroup // a Ctrl-C is for the run
	}
	env := []string{fmt.Sprint("BELAY_ATTEMPT=", n), "BELAY_TASK_ID=" + strings.ReplaceAll(c.Settings.Task.ID, "\x00", "\uFFFD")}
	l := launch{args: supervise.Shell(c.Settings.Check.Line), env: env, input: &input.Feed{Source: answer.Reader()}}
	if e := f.shell(cand, l, supervise.Spec{RunID: c.ID + supervise.CheckPart, Timeout: c.Settings.Check.Limit(), Placement: place}); len(e.exit.Left) > 0 {
		e.process.EndTree()
	}
}

// shell runs a line of the user's as a part of the run, and finds how it ends. The environment of the launch is that beside the run's.
func (f *finding) shell(cand *candidate, l launch, spec supervise.Spec) ending {
	c, said := cand.call, verdict.NewCapture(0, maxFeedback)
	l.env, l.stdout, l.stderr = append(supervise.Mark(c.Env, c.ID), l.env...), said, said
	// A shell that waits dies of SIGTERM, and not of a SIGINT that its command has not got.
	spec.Ladder = supervise.Terminate
	e := cand.supervised(l, spec, func(call.Process) {})
	l.input.Release()
	if !e.started() {
		f.unmade, f.err, f.how = true, e.err, "could not be started: "+e.err.Error()
		return e
	}
	if sig := syscall.Signal(e.exit.ShellCode() - 128); sig == syscall.SIGINT || sig == syscall.SIGTERM || sig == syscall.SIGHUP {
		retry.Sleep(cand.pace.Ctx, groupSignalDelay) // it may have been meant for us too
	}
	ended := said.Excerpt()
	f.Output = string(slices.Concat(ended.Head, ended.Tail))
	switch code := e.exit.Code; {
	case e.exit.Reason == supervise.Exceeded:
		f.how, f.broken = "was ended: "+transcript.Exceeded("it", e.exit.Excess).Verdict.Evidence, true
	case e.exit.Reason == supervise.Deadline:
		f.how, f.broken = "did not end within "+printable.Span(spec.Timeout), true
	case e.exit.Signal != 0:
		f.how, f.broken = "was killed by "+call.SignalName(e.exit.Signal), true
	default:
		f.how, f.ExitCode, f.broken = fmt.Sprintf("failed with exit code %d", code), code, code == CodeNotExecutable || code == CodeNotFound
		f.Passed = code == 0 && e.exit.Reason == supervise.Exited
	}
	return e
}

// tell is what an agent is told of a check that its work did not pass.
func (k *checker) tell(f *finding) string {
	text := strings.TrimSpace(strings.ToValidUTF8(printable.Text(f.Output), "\uFFFD"))
	if f.Command != "" {
		k.told = text
		text = fmt.Sprintf("$ %s\n%s\n\nThe check %s.", f.Command, text, f.how)
	}
	return cmp.Or(k.call.Settings.Check.Prompt, checkPrompt) + "\n\n" + text
}

// refuse says in the judgement of a success that the work is not done.
func (k *checker) refuse(j *judgement, f *finding) {
	v, why := &j.verdict, "the check "+f.how
	v.Class, v.Rule, v.Retryable, v.Evidence = verdict.NotDone, "check", false, verdict.LastLines(f.Output, 1, 200)
	if f.Command == "" {
		why = v.Evidence
	}
	j.message = k.call.Command.Name() + " is not done: " + why
	k.failed++
}

// entry is a finding as a line of the log has it.
func (k *checker) entry(f *finding) *journal.Check {
	return &journal.Check{Round: k.failed, Passed: f.Passed, ExitCode: f.ExitCode, Time: transcript.Milliseconds(f.took)}
}
