package belay_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// inTemp keeps the examples from writing into your state directory.
func inTemp() (dir string, done func()) {
	dir, err := os.MkdirTemp("", "belay-example-*")
	if err != nil {
		panic(err)
	}
	return dir, func() { os.RemoveAll(dir) }
}

func ExampleRunner_Run() {
	dir, done := inTemp()
	defer done()

	r := belay.Runner{
		Policy: retry.Policy{MaxRetries: 3, BaseDelay: time.Millisecond, Timeout: time.Minute},
	}
	// A command that works at the third attempt.
	script := `echo x >> "$1"; test $(wc -l < "$1") -ge 3 && echo done`
	res, err := r.Run(context.Background(), belay.Command{
		Args: []string{"sh", "-c", script, "sh", filepath.Join(dir, "calls")},
	})
	fmt.Println(res.Success, res.Attempts, err)
	fmt.Print(res.Output)
	// Output:
	// true 3 <nil>
	// done
}

// A check accepts the work, or says what it lacks. An agent is told that, and goes on with its session; a plain command is started again.
func ExampleCommand_check() {
	r := belay.Runner{Policy: retry.Policy{MaxRetries: 3, BaseDelay: time.Millisecond}}
	dir, done := inTemp()
	defer done()
	res, err := r.Run(context.Background(), belay.Command{
		Args: []string{"sh", "-c", `echo x >> calls; wc -l < calls`}, Dir: dir,
		Check: func(_ context.Context, r *belay.Result) error {
			if n := strings.TrimSpace(r.Output.String()); n != "2" {
				return fmt.Errorf("want 2, got %s", n)
			}
			return nil
		},
	})
	fmt.Println(err, res.Attempts, res.Check.Passed)
	// Output:
	// <nil> 2 true
}

// An error says what it was and why it was not tried again.
func ExampleError() {
	r := belay.Runner{Policy: retry.Policy{MaxRetries: 2, BaseDelay: time.Millisecond}}
	res, err := r.Run(context.Background(), belay.Command{Args: []string{"sh", "-c", "echo 'no luck' >&2; exit 7"}})

	var e *belay.Error
	if errors.As(err, &e) {
		fmt.Println(e.Verdict.Class == verdict.Unknown, e.Verdict.Evidence)
	}
	fmt.Println(errors.Is(err, retry.ErrExhausted), res.ExitCode)
	// Output:
	// true no luck
	// true 7
}

// Start returns at once; whatever the command has started ends with it.
func ExampleRunner_Start() {
	var r belay.Runner
	inv, err := r.Start(context.Background(), belay.Command{Args: []string{"sh", "-c", "sleep 60 & sleep 60"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for e := range inv.Events() {
		if _, ok := e.(belay.AttemptStarted); ok {
			inv.Cancel(errors.New("changed my mind"))
		}
	}
	res, err := inv.Wait()
	fmt.Println(res.Verdict.Class, err)
	// Output:
	// interrupted stopped sh: changed my mind
}

// A preview says how a command would be started, and starts nothing.
func ExampleRunner_Preview() {
	r := belay.Runner{Profile: "codex", Gate: belay.Gate{Key: "team"}}
	p, err := r.Preview(belay.Command{Args: []string{"codex", "exec", "Fix the tests"}})
	fmt.Printf("%q %v\n", p.Args, err)
	fmt.Println(p.Policy.MaxRetries, p.Stall, p.Gate)
	// Output:
	// ["codex" "exec" "--json" "Fix the tests"] <nil>
	// 3 15m0s team
}

// Classify says what kind of failure any error is.
func ExampleClassify() {
	for _, err := range []error{
		fmt.Errorf("connect: %w", syscall.ECONNREFUSED),
		&belay.Error{Verdict: verdict.Verdict{Class: verdict.Auth}, Message: "Invalid API key"},
		errors.New("no such plan"),
	} {
		c := belay.Classify(err)
		fmt.Printf("%s: %s, %s, worth repeating: %t\n", c.Type, c.Category, c.Severity, c.IsRetryable)
	}
	// Output:
	// network: connection, warning, worth repeating: true
	// auth: sdk, error, worth repeating: false
	// unknown: unknown, error, worth repeating: false
}

// An error that a program meets is put on record with its session and its context; belay sessions and belay audit show it.
func ExampleState_HandleError() {
	dir, done := inTemp()
	defer done()

	state, err := belay.OpenState(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	session := belay.Session{Profile: "claude", ID: "3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66"}
	failure := fmt.Errorf("connect: %w", syscall.ECONNRESET)
	c, err := state.HandleError(failure, session, map[string]any{"ticket": 42, "prompt": "Review it"})
	fmt.Println(c.Severity, c.IsRetryable, err)

	log, err := os.Open(state.LogPath())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer log.Close()
	var line struct {
		Event string `json:"event"`
		Class string `json:"error_type"`
		Error string `json:"error"`
	}
	fmt.Println(json.NewDecoder(log).Decode(&line), line.Event, line.Class, line.Error)
	// Output:
	// warning true <nil>
	// <nil> failure network connect: connection reset by peer
}

// The variables that scripts around claude use are read by one explicit call, and by nothing else.
func ExampleAgent_FromEnv() {
	claude := belay.Claude("Review the last commit")
	claude.Env = []string{"CLAUDE_MAX_RETRIES=3", "CLAUDE_BASE_DELAY=0.5", "CLAUDE_LOG_DIR=none"}
	err := claude.FromEnv()
	r := claude.Runner
	fmt.Println(r.Policy.MaxRetries, r.Policy.BaseDelay, r.Policy.Jitter, r.LogDir, err)

	claude = belay.Claude("Review the last commit")
	claude.Env = []string{"CLAUDE_MAX_RETRIES=0"}
	fmt.Println(claude.FromEnv())
	// Output:
	// 2 500ms proportional:0.2 none <nil>
	// CLAUDE_MAX_RETRIES: "0" is not a number of attempts; it counts the first one too, so at least 1
}
