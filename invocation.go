package belay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/supervise"
	"github.com/belay-run/belay/verdict"
)

// Invocation is one request of a caller, from start to result.
type Invocation struct {
	id       string
	runner   *Runner
	command  Command
	env      []string
	profile  agent.Profile
	policy   retry.Policy
	series   retry.Series
	begun    time.Time
	input    input
	state    *State
	record   *supervise.Record
	troubled bool // the state's trouble has been said

	ctx    context.Context
	cancel context.CancelCauseFunc

	mu          sync.Mutex
	process     *supervise.Process // the one that runs now
	interrupted error              // by somebody else's hand: no further attempt

	done   chan struct{}
	result *Result
	err    error
}

func newInvocation(ctx context.Context, r *Runner, c Command, env []string) *Invocation {
	now := time.Now()
	inv := &Invocation{id: newID(now), runner: r, command: c, env: env, profile: r.profile(), policy: r.policy(),
		begun: now, done: make(chan struct{})}
	inv.series = inv.policy.Start(now)
	inv.input = newInput(&c, inv.mayRepeat(), r.ReplayStdin)
	inv.ctx, inv.cancel = context.WithCancelCause(ctx)
	return inv
}

// ID names the invocation in records, in the log and to [belay cancel].
func (inv *Invocation) ID() string { return inv.id }

// Wait returns the result: see [Runner.Run].
func (inv *Invocation) Wait() (*Result, error) {
	<-inv.done
	return inv.result, inv.err
}

// Over reports whether Wait would return at once.
func (inv *Invocation) Over() bool {
	select {
	case <-inv.done:
		return true
	default:
		return false
	}
}

// Cancel ends the invocation: a running command is stopped with its whole tree, a wait is cut short. The cause may
// be an [*Interrupt].
func (inv *Invocation) Cancel(cause error) { inv.cancel(cause) }

// Signal passes a signal on to the running command, if there is one.
func (inv *Invocation) Signal(sig syscall.Signal) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	if inv.process != nil {
		inv.process.Signal(sig)
	}
}

// Interrupt says that the command was sent a signal by somebody else's hand, as the terminal does that it shares with
// us. What it makes of that is left to it, as it would be without us; but there will be no further attempt, and a wait
// is cut short.
func (inv *Invocation) Interrupt(cause error) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	if inv.process == nil {
		inv.cancel(cause)
		return
	}
	inv.interrupted = cause
}

// Kill ends the invocation at once, without asking the command first.
func (inv *Invocation) Kill() {
	inv.cancel(context.Canceled)
	inv.mu.Lock()
	p := inv.process
	inv.mu.Unlock()
	if p != nil {
		p.Kill()
	}
}

// running takes note of the present process; nil when there is none.
func (inv *Invocation) running(p *supervise.Process) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	inv.process = p
}

// ended says why there must be no further attempt, whatever the last one was; nil if nobody has said so.
func (inv *Invocation) ended() error {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	if inv.interrupted != nil {
		return inv.interrupted
	}
	return context.Cause(inv.ctx)
}

func (inv *Invocation) observe(e Event) {
	if inv.runner.Observe != nil {
		inv.runner.Observe(e)
	}
}

// mayRepeat says that there may be more than one attempt.
func (inv *Invocation) mayRepeat() bool { return inv.policy.MaxRetries > 0 }

// managed says that more was asked for than to run the command: then what it leaves behind is our business.
func (inv *Invocation) managed() bool {
	return inv.mayRepeat() || inv.policy.Timeout > 0 || inv.policy.TotalTimeout > 0 || inv.runner.Stall > 0
}

// Run runs the invocation on the calling goroutine: attempts, verdicts, waits, until something is final. It is called
// once; [Runner.Start] does so itself.
func (inv *Invocation) Run() {
	defer close(inv.done)
	defer inv.cancel(nil)
	inv.openState()
	defer inv.closeRecord()
	if deadline, ok := inv.series.Deadline(); ok {
		ctx, stop := context.WithDeadlineCause(inv.ctx, deadline, retry.ErrTotalTimeout)
		defer stop()
		inv.ctx = ctx
	}
	attemptOne := (*Invocation).attempt
	if inv.runner.attempt != nil {
		attemptOne = inv.runner.attempt
	}
	var errs []string
	classes := map[verdict.Class]int{}
	for n := 1; ; n++ {
		a := attemptOne(inv, n)
		wait, stop := inv.next(a, classes)
		inv.journal(n, a, wait, stop)
		if stop != nil || a.verdict.Class == verdict.OK {
			inv.finish(n, a, stop, errs)
			return
		}
		classes[a.verdict.Class]++
		errs = append(errs, a.message)
		inv.observe(AttemptFailed{Attempt: n, Verdict: a.verdict, Stderr: a.stderr.output()})
		a.discard()
		if err := inv.wait(n, a, wait); err != nil {
			a.verdict = verdict.Verdict{Class: verdict.Interrupted, Rule: "cancelled", Evidence: err.Error()}
			a.code, a.message = codeOf(err), "interrupted while waiting to retry"
			inv.finish(n, a, &retry.Error{Cause: err}, errs)
			return
		}
	}
}

// next asks whether the attempt is to be repeated: after what wait, or why not.
func (inv *Invocation) next(a attempt, classes map[verdict.Class]int) (time.Duration, *retry.Error) {
	v := a.verdict
	if v.Class == verdict.OK {
		return 0, nil
	}
	now := time.Now()
	if cause := inv.ended(); cause != nil {
		return 0, &retry.Error{Cause: cause}
	}
	advice := retry.Advice{Retry: v.Retryable, After: v.Hint.After, NotBefore: v.Hint.At, Throttled: v.Class.Throttle(), TimedOut: a.timedOut}
	if limit := v.Class.RetryLimit(); limit > 0 && classes[v.Class] >= limit {
		advice.Retry = false
	}
	wait, err := inv.series.Next(now, &Error{Verdict: v, Message: a.message}, advice)
	if err == nil && !a.again {
		err = &retry.Error{Cause: errors.New(a.noRepeat)}
	}
	if err != nil {
		var stop *retry.Error
		errors.As(err, &stop)
		return 0, stop
	}
	return wait, nil
}

// wait sleeps until the next attempt, holding nothing.
func (inv *Invocation) wait(n int, a attempt, d time.Duration) error {
	until := time.Now().Add(d)
	w := Waiting{Attempt: n, Retry: n, Verdict: a.verdict, Wait: d, Until: until}
	if !a.verdict.Class.Throttle() || inv.policy.CountThrottles {
		w.Of = inv.policy.MaxRetries
	}
	inv.observe(w)
	inv.update(supervise.StateWaiting, n, a.message, until)
	err := retry.Sleep(inv.ctx, d)
	inv.observe(WaitOver{})
	inv.update(supervise.StateRunning, n+1, "", time.Time{})
	return err
}

// finish makes the result.
func (inv *Invocation) finish(n int, a attempt, stop *retry.Error, errs []string) {
	r := &Result{ID: inv.id, Success: a.verdict.Class == verdict.OK, Verdict: a.verdict, Errors: errs,
		Attempts: n, Waited: inv.series.Waited(), Profile: inv.profile.Name(),
		ChildCode: a.code, Left: a.left, OrphansKilled: a.killed}
	if !a.started {
		r.Attempts--
	}
	if inv.state != nil {
		r.Log = inv.state.LogPath()
	}
	exhausted := isExhausted(a, stop)
	if !r.Success {
		r.Err = a.message
		if exhausted {
			r.Err = exhaustion(a, stop, n)
		}
		r.RetryAt = stop.NotBefore
		inv.err = &Error{Verdict: r.Verdict, Message: r.Err, Cause: stop.Cause, RetryAt: r.RetryAt}
	}
	expired := a.timedOut || a.verdict.Class == verdict.Stalled || stop != nil && errors.Is(stop.Cause, retry.ErrTotalTimeout) && a.expired
	r.ExitCode = exitCode(r, !inv.profile.Headless(), expired, exhausted)
	if !exhausted && inv.command.Stdout == nil {
		r.Output = a.stdout.output()
	}
	if err := a.deliver(); err != nil && r.ExitCode == 0 {
		r.ExitCode = CodeFailed
		if errors.Is(err, syscall.EPIPE) {
			r.ExitCode = 128 + int(syscall.SIGPIPE)
		}
		r.Success, r.Err = false, fmt.Sprintf("cannot pass the output on: %v", err)
		inv.err = &Error{Verdict: verdict.Verdict{Class: verdict.Unknown}, Message: r.Err, Cause: err}
	}
	r.Duration = time.Since(inv.begun)
	inv.result = r
}

// isExhausted says that the attempt was worth repeating and only retries or time were missing.
func isExhausted(a attempt, stop *retry.Error) bool {
	var i *Interrupt
	return stop != nil && a.verdict.Retryable && !errors.Is(stop.Cause, retry.ErrPermanent) && !errors.As(stop.Cause, &i)
}

// exhaustion says why it was not tried again, for a person. It ends in "retry later", as callers look for that.
func exhaustion(a attempt, stop *retry.Error, n int) string {
	var b strings.Builder
	b.WriteString(a.message)
	switch {
	case errors.Is(stop.Cause, retry.ErrMaxWait):
		b.WriteString("; the next attempt would come too late for --max-wait")
	case errors.Is(stop.Cause, retry.ErrTotalTimeout):
		b.WriteString("; the next attempt would come too late for --total-timeout")
	case errors.Is(stop.Cause, retry.ErrExhausted):
		fmt.Fprintf(&b, "; gave up after %d attempt%s", n, plural(n))
	default:
		fmt.Fprintf(&b, "; %v", stop.Cause)
	}
	if !stop.NotBefore.IsZero() {
		fmt.Fprintf(&b, "; not before %s", stop.NotBefore.Local().Format("15:04:05 MST"))
	}
	b.WriteString("; retry later")
	return b.String()
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// openState prepares records and log. Trouble with them is said once and stops nothing.
func (inv *Invocation) openState() {
	state, err := OpenState(inv.runner.StateDir)
	if err != nil {
		inv.trouble(err)
		return
	}
	inv.state = state
	if ended, err := state.Records().Reclaim(); err == nil && len(ended) > 0 {
		inv.observe(Reclaimed{ended})
	}
	inv.record, err = state.create(supervise.Record{ID: inv.id, Command: inv.command.name(),
		Profile: inv.profile.Name(), Started: inv.begun, Attempt: 1})
	if err != nil {
		inv.trouble(err)
	}
}

func (inv *Invocation) closeRecord() { inv.record.Remove() }

func (inv *Invocation) update(state string, attempt int, reason string, until time.Time) {
	if inv.record == nil {
		return
	}
	inv.record.State, inv.record.Attempt, inv.record.Reason, inv.record.Until = state, attempt, journal.Redact(reason), until
	if err := inv.record.Update(); err != nil {
		inv.trouble(err)
	}
}

func (inv *Invocation) trouble(err error) {
	if !inv.troubled {
		inv.troubled = true
		inv.observe(StateTrouble{err})
	}
}

// journal puts one attempt on record.
func (inv *Invocation) journal(n int, a attempt, wait time.Duration, stop *retry.Error) {
	if inv.state == nil {
		return
	}
	e := journal.Entry{
		Timestamp: journal.Time{Time: time.Now()}, Invocation: inv.id, Profile: inv.profile.Name(),
		Command: inv.command.name(), Attempt: n, Status: journal.Success, ExitCode: a.code,
		ResponseTime: a.exit.Duration.Seconds(), WaitTime: wait.Seconds(),
		Session: a.verdict.SessionID, Usage: a.verdict.Usage,
		CPUTime: a.exit.CPU.Seconds(), Left: len(a.left), Killed: a.killed,
	}
	if a.exit.Signal != 0 {
		e.Signal = signalName(a.exit.Signal)
	}
	if !a.started {
		e.Attempt = 0
	}
	if inv.command.Prompt != nil {
		sum := sha256.Sum256([]byte(*inv.command.Prompt))
		e.PromptHash = hex.EncodeToString(sum[:])
	}
	if a.verdict.Class != verdict.OK {
		e.ErrorType, e.Error, e.Rule = a.verdict.Class, a.message, a.verdict.Rule
		switch {
		case stop == nil:
			e.Status = journal.Retry
		case isExhausted(a, stop):
			e.Status = journal.Exhausted
		default:
			e.Status = journal.Error
		}
		if stop != nil {
			e.RetryAt.Time = stop.NotBefore
		}
	}
	log := journal.Log{Path: inv.state.LogPath(), OnLarge: func(path string) { inv.observe(LogLarge{path}) }}
	if err := log.Append(e); err != nil {
		inv.trouble(err)
	}
}
