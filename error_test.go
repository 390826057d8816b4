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
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

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

// The caller was sent a signal: the command gets the same one, whether that is the cause of the context or of a cancel.
func TestError_Interrupt(t *testing.T) {
	t.Parallel()
	interrupt := &belay.Interrupt{Signal: int(syscall.SIGINT), Name: "SIGINT"}
	for _, by := range []string{"context", "cancel"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		inv, err := new(belay.Runner).Start(ctx, sh(`trap 'echo got INT; exit 7' INT; echo ready; while :; do sleep 0.1; done`))
		must.OK(t, err)
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
