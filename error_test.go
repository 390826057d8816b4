package belay_test

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// throttled is a runner to which every failure is a limit that ends in an hour.
func throttled(key string) belay.Runner {
	return belay.Runner{Gate: belay.Gate{Key: key}, NoWait: true,
		Judge: func(own verdict.Verdict, o verdict.Outcome, now time.Time) verdict.Verdict {
			return verdict.Verdict{Class: verdict.RateLimit, Retryable: true, Hint: verdict.Hint{After: time.Hour}}
		}}
}

// failed runs a command that must fail, and returns its error and the cause of the type that is asked for.
func failed[Cause error](t *testing.T, run func() (*belay.Result, error)) (*belay.Error, Cause) {
	t.Helper()
	res, err := run()
	e, ok := errors.AsType[*belay.Error](err)
	if !ok || res == nil || res.Success || res.Error != e.Message || e.Error() != e.Message || e.Invocation != res.ID {
		t.Fatalf("%T %v, %+v", err, err, res)
	}
	cause, ok := errors.AsType[Cause](err)
	if !ok {
		t.Fatalf("the cause of %v is %T %v", err, e.Cause, e.Cause)
	}
	return e, cause
}

// Runners without a State share their gates within the process.
func TestError_GateRefused(t *testing.T) {
	t.Parallel()
	first := throttled(t.Name())
	res, err := first.Run(t.Context(), sh("exit 1"))
	if err == nil || res.Verdict.Class != verdict.RateLimit {
		t.Fatalf("%v, %+v", err, res)
	}
	second := belay.Runner{Gate: first.Gate, NoWait: true}
	e, cause := failed[*belay.GateRefused](t, func() (*belay.Result, error) { return second.Run(t.Context(), sh("true")) })
	if cause.Key != t.Name() || cause.Refusal.Kind != gate.KindHold || e.Verdict.Class != verdict.RateLimit || !errors.Is(e, retry.ErrMaxWait) || e.RetryAt.IsZero() {
		t.Errorf("%+v, %+v", cause, e)
	}
	other := belay.Runner{Gate: belay.Gate{Key: t.Name() + "/other"}, NoWait: true}
	if _, err := other.Run(t.Context(), sh("true")); err != nil {
		t.Errorf("another gate: %v", err)
	}
	off := belay.Runner{Gate: belay.Gate{Key: t.Name(), Off: true}}
	if _, err := off.Run(t.Context(), sh("true")); err != nil {
		t.Errorf("no gate: %v", err)
	}
	// With a State the gates are those of all processes that share it.
	third := belay.Runner{Gate: first.Gate, NoWait: true, State: &belay.State{Dir: t.TempDir()}}
	if _, err := third.Run(t.Context(), sh("true")); err != nil {
		t.Errorf("with a state: %v", err)
	}
}

func TestError_ScopeTaken(t *testing.T) {
	t.Parallel()
	holder := belay.Runner{Scope: t.Name()}
	inv, err := holder.Start(t.Context(), sh("exec sleep 60"))
	if err != nil {
		t.Fatal(err)
	}
	await[belay.AttemptStarted](t, inv)
	r := belay.Runner{Scope: t.Name(), OnBusy: belay.BusyFail}
	e, taken := failed[*belay.ScopeTaken](t, func() (*belay.Result, error) { return r.Run(t.Context(), sh("true")) })
	if taken.Key != t.Name() || len(taken.Holders) != 1 || taken.Holders[0] != inv.ID() || !errors.Is(e, retry.ErrMaxWait) || e.Verdict.Class != verdict.SessionBusy {
		t.Errorf("%+v, %+v", taken, e)
	}

	// Another one takes its place.
	r.OnBusy = belay.BusyReplace
	res, err := r.Run(t.Context(), sh("true"))
	if err != nil {
		t.Fatal(err)
	}
	_, replaced := failed[*belay.Replaced](t, inv.Wait)
	if replaced.By != res.ID {
		t.Errorf("%+v, want %s", replaced, res.ID)
	}
}

// await reads events until one of a type has come.
func await[E belay.Event](t *testing.T, inv *belay.Invocation) (found E) {
	t.Helper()
	for e := range inv.Events() {
		if e, ok := e.(E); ok {
			return e
		}
	}
	t.Fatalf("there was no %T", found)
	return found
}

func TestError_InputRead(t *testing.T) {
	t.Parallel()
	r := belay.Runner{Policy: retry.Policy{MaxRetries: 1, BaseDelay: time.Millisecond}}
	command := sh("cat; exit 1")
	command.Stdin = io.MultiReader(strings.NewReader("some text")) // which cannot be read again
	_, cause := failed[*belay.InputRead](t, func() (*belay.Result, error) { return r.Run(t.Context(), command) })
	if cause.Command != "sh" {
		t.Errorf("%+v", cause)
	}
	r.ReplayStdin = true
	command.Stdin = io.MultiReader(strings.NewReader("some text"))
	if res, err := r.Run(t.Context(), command); !errors.Is(err, retry.ErrExhausted) || res.Attempts != 2 {
		t.Errorf("%v after %d attempts", err, res.Attempts)
	}
}

func TestError_MaxCostReached(t *testing.T) {
	t.Parallel()
	claude := scripted(t, begins+answers+fails+"exit 1\n")
	claude.Runner.MaxCost = 0.2
	_, cause := failed[*belay.MaxCostReached](t, func() (*belay.Result, error) { return claude.Run(t.Context()) })
	if cause.Spent != 0.25 || cause.Limit != 0.2 {
		t.Errorf("%+v", cause)
	}
}

// A gate has ten retries for all that share it.
func TestError_RetriesSpent(t *testing.T) {
	t.Parallel()
	r := belay.Runner{Profile: "gh", Gate: belay.Gate{Key: t.Name()}, Policy: retry.Policy{MaxRetries: 6, BaseDelay: time.Millisecond, MaxDelay: time.Millisecond}}
	r.Gate.Settings.Breaker.Failures = 1000
	command := belay.Command{Args: []string{script(t, "gh", "echo 'gh: Bad Gateway (HTTP 502)' >&2\nexit 1\n"), "api", "user"}, Env: append(os.Environ(), "GH_TOKEN=x")}
	if res, err := r.Run(t.Context(), command); !errors.Is(err, retry.ErrExhausted) || res.Attempts != 7 {
		t.Fatalf("%v after %d attempts", err, res.Attempts)
	}
	e, cause := failed[*belay.RetriesSpent](t, func() (*belay.Result, error) { return r.Run(t.Context(), command) })
	if cause.Key != t.Name() || e.RetryAt.IsZero() {
		t.Errorf("%+v, %+v", cause, e)
	}
}

func TestError_EffectUnknown(t *testing.T) {
	t.Parallel()
	path := script(t, "gh", "echo 'Post \"https://api.github.com/graphql\": EOF' >&2\nexit 1\n")
	r := belay.Runner{Profile: "gh", Gate: belay.Gate{Key: t.Name()}}
	command := belay.Command{Args: []string{path, "issue", "create", "--title", "x", "--body", "y"}, Env: append(os.Environ(), "GH_TOKEN=x")}
	var res *belay.Result
	e, cause := failed[*belay.EffectUnknown](t, func() (_ *belay.Result, err error) {
		res, err = r.Run(t.Context(), command)
		return res, err
	})
	if !errors.Is(e, belay.ErrMayBeDone) || !cause.Verifiable || cause.Asked || cause.Err != nil || !res.MayBeDone || res.Attempts != 1 {
		t.Errorf("%+v, %+v, %+v", cause, e, res)
	}
	// It is looked for, by the same gh, which fails at that too.
	r.Effects.Verify = true
	e, cause = failed[*belay.EffectUnknown](t, func() (*belay.Result, error) { return r.Run(t.Context(), command) })
	if !errors.Is(e, belay.ErrMayBeDone) || !cause.Asked || cause.Err == nil || !errors.Is(e, cause.Err) {
		t.Errorf("%+v, %+v", cause, e)
	}
}

func TestError_NoSession(t *testing.T) {
	t.Parallel()
	claude := scripted(t, begins+answers+succeeds)
	claude.Runner.State, claude.Runner.LogDir = &belay.State{Dir: t.TempDir()}, belay.NoLogDir
	claude.Runner.Resume.Session = belay.LastSession
	e, cause := failed[*belay.NoSession](t, func() (*belay.Result, error) { return claude.Run(t.Context()) })
	if cause.Profile != "claude" || e.Verdict.Class != verdict.SessionNotFound {
		t.Errorf("%+v, %+v", cause, e)
	}
	claude.Runner.Resume.OrNew = true
	if res, err := claude.Run(t.Context()); err != nil || res.Resumed {
		t.Errorf("a new one: %+v, %v", res, err)
	}
	claude.Runner.Resume.OrNew = false
	if res, err := claude.Run(t.Context()); err != nil || !res.Resumed {
		t.Errorf("the last one: %+v, %v", res, err)
	}
}

func TestError_StdinTimeout(t *testing.T) {
	t.Parallel()
	in, out := io.Pipe()
	defer out.Close()
	r := belay.Runner{Profile: "claude", Gate: belay.Gate{Off: true}, Policy: retry.Policy{Timeout: 50 * time.Millisecond}}
	e, cause := failed[*belay.StdinTimeout](t, func() (*belay.Result, error) {
		return r.Run(t.Context(), belay.Command{Args: []string{script(t, "claude", succeeds), "-p"}, Stdin: in})
	})
	if cause.Command != "claude" || cause.Limit != 50*time.Millisecond || !errors.Is(e, retry.ErrTimeout) || e.Verdict.Class != verdict.Timeout {
		t.Errorf("%+v, %+v", cause, e)
	}
}

// The caller was sent a signal: the command gets the same one, whether that is the cause of the context or of a cancel.
func TestError_Interrupt(t *testing.T) {
	t.Parallel()
	interrupt := &belay.Interrupt{Signal: int(syscall.SIGINT), Name: "SIGINT"}
	for _, by := range []string{"context", "cancel"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		inv, err := new(belay.Runner).Start(ctx, sh(`trap 'echo got INT; exit 7' INT; echo ready; while :; do sleep 0.1; done`))
		if err != nil {
			t.Fatal(err)
		}
		await[belay.AttemptStarted](t, inv)
		if by == "context" {
			cancel(interrupt)
		} else {
			inv.Cancel(interrupt)
		}
		res, err := inv.Wait()
		got, ok := errors.AsType[*belay.Interrupt](err)
		if !ok || got != interrupt || res.ExitCode != 130 || res.Verdict.Class != verdict.Interrupted || got.Error() != "interrupted by SIGINT" {
			t.Errorf("%s: %v, %+v", by, err, res)
		}
		cancel(nil)
	}
}

// What cannot be run as it was asked for is a usage error, and nothing is started.
func TestError_Usage(t *testing.T) {
	t.Parallel()
	started := func(e belay.Event) { t.Errorf("%T %+v", e, e) }
	for name, tt := range map[string]struct {
		runner  belay.Runner
		command belay.Command
		want    string
	}{
		"no command":           {belay.Runner{}, belay.Command{}, "no command given"},
		"no command to claude": {belay.Runner{Profile: "claude"}, belay.Command{}, "no command given"},
		"unknown profile":      {belay.Runner{Profile: "clod"}, sh("true"), `there is no profile "clod"`},
		"policy":               {belay.Runner{Policy: retry.Policy{MaxRetries: -2}}, sh("true"), "max retries -2 is negative"},
		"directory":            {belay.Runner{}, belay.Command{Args: []string{"true"}, Dir: "/nowhere"}, "working directory /nowhere does not exist"},
		"session":              {belay.Runner{Resume: belay.Resume{Session: "x"}}, sh("true"), `"x" is not a session id`},
	} {
		tt.runner.Observe = started
		res, err := tt.runner.Run(t.Context(), tt.command)
		usage, ok := err.(*belay.UsageError)
		if !ok || !strings.Contains(err.Error(), tt.want) || errors.Unwrap(usage) == nil || res.ExitCode != 2 || res.Attempts != 0 || res.Error != err.Error() {
			t.Errorf("%s: run: %v, %+v", name, err, res)
		}
		inv, err := tt.runner.Start(t.Context(), tt.command)
		if _, ok := err.(*belay.UsageError); !ok || inv != nil {
			t.Errorf("%s: start: %v", name, err)
		}
		if _, err := tt.runner.Preview(tt.command); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: preview: %v", name, err)
		}
	}
	long := sh("true")
	long.Args = append(long.Args, strings.Repeat("x", 3<<20))
	_, err := new(belay.Runner).Run(t.Context(), long)
	if cause, ok := errors.AsType[*belay.TooLong](err); !ok || cause.Unwrap() == nil || cause.Error() != err.Error() {
		t.Errorf("too long: %T %v", err, err)
	}
	nobody := &belay.Agent{Name: "gh", Prompt: "x"}
	if res, err := nobody.Run(t.Context()); err == nil || err.Error() != `there is no agent "gh"` || res.ExitCode != 2 {
		t.Errorf("%v, %+v", err, res)
	}
	if _, err := nobody.Start(t.Context()); err == nil {
		t.Error("gh was asked")
	}
}

// A policy's own delay is told what the attempt said, as an error of this package.
func TestError_IsWhatDelayGets(t *testing.T) {
	t.Parallel()
	var got []error
	r := belay.Runner{Policy: retry.Policy{MaxRetries: 2, Delay: func(n int, err error) time.Duration {
		got = append(got, err)
		return time.Millisecond
	}}}
	if _, err := r.Run(t.Context(), sh("echo no luck >&2; exit 3")); err == nil {
		t.Fatal("it has worked")
	}
	for _, err := range got {
		if e, ok := err.(*belay.Error); !ok || e.Verdict.Evidence != "no luck" {
			t.Errorf("%T %+v", err, err)
		}
	}
	if len(got) != 2 {
		t.Errorf("it was asked %d times", len(got))
	}
}
