package engine

import (
	"context"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/claude"
	"github.com/belay-run/belay/internal/agent/codex"
)

// Claude asks Claude Code for one thing: claude -p. The prompt is text, however it begins and however long it is.
type Claude struct {
	Prompt string
	// Options are further arguments in claude's own words, such as "--model", "sonnet".
	Options []string
	// Dir is the working directory, to which sessions belong; empty means the caller's.
	Dir string
	// Env is the environment; nil means the caller's.
	Env []string
	// Path is the command; empty means claude, as the PATH finds it.
	Path string
	// Runner says how it is run; its Profile is not used. The zero value has the retries and limits of the preset claude.
	Runner Runner
}

// Run asks and waits for the answer, which is the result's Output. See [Runner.Run].
func (c Claude) Run(ctx context.Context) (*Result, error) {
	r, command := c.prepare()
	return r.Run(ctx, command)
}

// Start asks in the background. [Invocation.Events] are claude's own.
func (c Claude) Start(ctx context.Context) (*Invocation, error) {
	r, command := c.prepare()
	return r.Start(ctx, command)
}

func (c Claude) prepare() (*Runner, Command) {
	args := append([]string{or(c.Path, "claude"), "-p"}, c.Options...)
	command := Command{Args: args, Dir: c.Dir, Env: c.Env, Prompt: &c.Prompt}
	return c.Runner.with(claude.New(args, command.variables())), command
}

// Codex asks Codex for one thing: codex exec. The prompt is text, however it begins and however long it is.
type Codex struct {
	Prompt string
	// Options are further arguments in codex's own words, such as "--sandbox", "read-only".
	Options []string
	// Dir is the working directory; empty means the caller's.
	Dir string
	// Env is the environment; nil means the caller's.
	Env []string
	// Path is the command; empty means codex, as the PATH finds it.
	Path string
	// Runner says how it is run; its Profile is not used. The zero value has the retries and limits of the preset codex.
	Runner Runner
}

// Run asks and waits for the answer, which is the result's Output. See [Runner.Run].
func (c Codex) Run(ctx context.Context) (*Result, error) {
	r, command := c.prepare()
	return r.Run(ctx, command)
}

// Start asks in the background. [Invocation.Events] are codex's own.
func (c Codex) Start(ctx context.Context) (*Invocation, error) {
	r, command := c.prepare()
	return r.Start(ctx, command)
}

func (c Codex) prepare() (*Runner, Command) {
	args := append([]string{or(c.Path, "codex"), "exec"}, c.Options...)
	command := Command{Args: args, Dir: c.Dir, Env: c.Env, Prompt: &c.Prompt}
	return c.Runner.with(codex.New(args, command.variables(), c.Dir)), command
}

// with returns a runner for a profile.
func (r Runner) with(p agent.Agent) *Runner {
	r.Profile = p
	return &r
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
