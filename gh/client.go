// Package gh is a client of GitHub that goes through GitHub's CLI.
//
// A [Client] runs gh the way `belay run -- gh` does: limits are waited for until their real reset, what fails for the
// moment is tried again, and what may have been done already is not done twice. On top of that it knows when to stop:
// after ten calls in a row that GitHub could not answer, there is no sense in the hundreds that would follow.
//
//	client := &gh.Client{}
//	res, err := client.Run(ctx, []string{"issue", "create", "--title", "x", "--body", "y"}, true)
//	err = client.JSON(ctx, []string{"api", "user"}, &user)
//	err = client.GraphQL(ctx, `query($n: Int!) { … }`, map[string]any{"n": 1}, &answer)
package gh

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/internal/agent/gh"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// Client calls gh. The zero value works. It may be used by several goroutines and must not be copied after its first use.
type Client struct {
	// Runner says how gh is run; its Profile is not used. A Policy without MaxRetries is the preset gh: three retries after
	// 1, 2 and 4 s and up to a second more. [retry.None] turns retrying off. With a State, GitHub's limits are shared with
	// all processes that use it, without one within this process.
	Runner belay.Runner

	// Path is the command; empty means gh, as the PATH finds it.
	Path string
	// Dir is the working directory; empty means the caller's.
	Dir string
	// Env is the environment; nil means the caller's.
	Env []string

	// Failures is how many calls in a row may fail before no more are made for a minute, with [ErrTripped]. 0 means 10,
	// negative means that they are not counted. A warning comes from seven tenths of it on.
	Failures int

	// Logger is told of every call (debug), of every retry and of calls failing in a row (warn), and of calls that are
	// given up (error). Nil means [slog.Default].
	Logger *slog.Logger

	once sync.Once
	row  breaker.Breaker
}

// Result is what a call has printed.
type Result struct {
	// Stdout and Stderr are gh's own, of the attempt that counted.
	Stdout, Stderr string
	// ExitCode is gh's own; -1 if it never ran to an end.
	ExitCode int
	Attempts int
	Waited   time.Duration
	Verdict  verdict.Verdict
}

// Run runs gh with these arguments. With check, an error says that it failed, after all retries; it is an [*Error]. Without,
// there are no retries, and a failure is no error: the result says what gh said. Only that gh could not be run at all, or was
// stopped, is an error then.
func (c *Client) Run(ctx context.Context, args []string, check bool) (*Result, error) {
	log := c.logger()
	log.DebugContext(ctx, "running gh", "args", shown(args))
	call, err := c.allow()
	if err != nil {
		log.ErrorContext(ctx, "gh is not called", "args", shown(args), "error", err)
		return &Result{ExitCode: -1}, &Error{Args: args, Err: err}
	}
	defer call.Release() // where nothing else was said of it
	var stdout, stderr bytes.Buffer
	command := belay.Command{Args: append([]string{c.path()}, args...), Dir: c.Dir, Env: c.Env, Stdout: &stdout, Stderr: &stderr}
	runner := c.runner(command, check, func(w belay.Waiting) {
		log.WarnContext(ctx, "gh failed, retrying", "attempt", w.Attempt, "of", of(w), "delay", w.Wait.Round(time.Millisecond), "error", firstLine(w.Verdict.Evidence))
	})
	res, err := runner.Run(ctx, command)
	out := &Result{Stdout: stdout.String(), Stderr: stderr.String(), ExitCode: res.ChildCode, Attempts: res.Attempts, Waited: res.Waited, Verdict: res.Verdict}
	tripped := c.count(ctx, &call, res.Verdict, err)
	if err == nil || !check && out.ExitCode >= 0 && ctx.Err() == nil && res.Verdict.Class != verdict.ToolMissing {
		return out, nil
	}
	failed := &Error{Args: args, Result: out, Err: err}
	if tripped != nil {
		failed.Err = fmt.Errorf("%w; %w", tripped, err)
	}
	log.ErrorContext(ctx, "gh failed", "args", shown(args), "attempts", res.Attempts, "class", res.Verdict.Class, "error", firstLine(err.Error()))
	return out, failed
}

// JSON runs gh and decodes what it prints.
func (c *Client) JSON(ctx context.Context, args []string, to any) error {
	res, err := c.Run(ctx, args, true)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(res.Stdout), to); err != nil {
		return &Error{Args: args, Result: res, Err: fmt.Errorf("what it printed is no such JSON: %w", err)}
	}
	return nil
}

func (c *Client) path() string {
	if c.Path == "" {
		return gh.Name
	}
	return c.Path
}

func (c *Client) logger() *slog.Logger {
	if c.Logger == nil {
		return slog.Default()
	}
	return c.Logger
}

// runner is how this call is run.
func (c *Client) runner(command belay.Command, check bool, waiting func(belay.Waiting)) *belay.Runner {
	r := c.Runner
	r.Profile = gh.Name
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	if !check || !gh.New(command.Args, env, c.Dir).Headless() { // extensions and aliases may do anything
		r.Policy.MaxRetries, r.Policy.CountThrottles = retry.None, true
	}
	if r.Gate.Settings.Breaker.Failures == 0 {
		r.Gate.Settings.Breaker.Failures = c.failures()
	}
	own := r.Observe
	r.Observe = func(e belay.Event) {
		if w, ok := e.(belay.Waiting); ok {
			waiting(w)
		}
		if own != nil {
			own(e)
		}
	}
	return &r
}

// Error is a call that failed. It unwraps to what Belay says of it, which is a [*belay.Error] wherever gh was run.
type Error struct {
	Args   []string
	Result *Result // nil if gh was not called
	Err    error
}

func (e *Error) Error() string {
	return fmt.Sprintf("gh command failed: gh %s: %v", shown(e.Args), e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// maxShown is how much of an argument is shown: bodies and queries are long.
const maxShown = 80

// shown are arguments as a log may have them: without what may be a secret.
func shown(args []string) string {
	if len(args) > 2 && (args[0] == "secret" || args[0] == "auth") {
		return strings.Join(args[:2], " ") + " …"
	}
	list := make([]string, len(args))
	for i, a := range args {
		lower := strings.ToLower(a)
		for _, word := range []string{"authorization:", "token=", "secret=", "password="} {
			if at := strings.Index(lower, word); at >= 0 {
				a = a[:at+len(word)] + "…"
				break
			}
		}
		if len(a) > maxShown {
			a = strings.ToValidUTF8(a[:maxShown], "") + "…"
		}
		list[i] = strings.ReplaceAll(a, "\n", " ")
	}
	return strings.Join(list, " ")
}

// of is how many attempts there may be; nothing where that is not counted.
func of(w belay.Waiting) int {
	if w.Of <= 0 {
		return 0
	}
	return w.Of + 1
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
