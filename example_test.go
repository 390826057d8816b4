package belay_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent/codex"
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
		Policy:   retry.Policy{MaxRetries: 3, BaseDelay: time.Millisecond, Timeout: time.Minute},
		StateDir: dir,
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

// An error says what it was and why it was not tried again.
func ExampleError() {
	dir, done := inTemp()
	defer done()

	r := belay.Runner{Policy: retry.Policy{MaxRetries: 2, BaseDelay: time.Millisecond}, StateDir: dir}
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
	dir, done := inTemp()
	defer done()

	started := make(chan struct{})
	r := belay.Runner{StateDir: dir, Observe: func(e belay.Event) {
		if _, ok := e.(belay.AttemptStarted); ok {
			close(started)
		}
	}}
	inv, err := r.Start(context.Background(), belay.Command{Args: []string{"sh", "-c", "sleep 60 & sleep 60"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	<-started
	inv.Cancel(errors.New("changed my mind"))
	res, err := inv.Wait()
	fmt.Println(res.Verdict.Class, err)
	// Output:
	// interrupted sh was stopped: changed my mind
}

// A preview says how a command would be started, and starts nothing.
func ExampleInvocation_Preview() {
	dir, done := inTemp()
	defer done()

	args := []string{"codex", "exec", "Fix the tests"}
	r := belay.Runner{Profile: codex.New(args, []string{"OPENAI_API_KEY=x"}, dir), StateDir: dir, Gate: belay.Gate{Key: "team"}}
	inv, err := r.Prepare(context.Background(), belay.Command{Args: args})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := inv.Preview()
	fmt.Printf("%q %v\n", p.Args, err)
	fmt.Println(p.Policy.MaxRetries, p.Stall, p.Gate)
	// Output:
	// ["codex" "exec" "--json" "Fix the tests"] <nil>
	// 3 15m0s team
}
