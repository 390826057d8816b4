package engine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

// command is what to run, as the stages know it.
type command struct{ belaytype.Command }

// name is what messages and records call the command. Never more of its arguments: they may hold secrets.
func (c *command) name() string {
	if len(c.Args) == 0 {
		return ""
	}
	return filepath.Base(c.Args[0])
}

// variables is the environment that the caller asked for.
func (c *command) variables() []string {
	if c.Env == nil {
		return os.Environ()
	}
	return c.Env
}

// environ is the environment for the child. Settings that are meant for this run would multiply in a nested one;
// where the state is kept stays the same for all.
func (c *command) environ() []string {
	env := c.variables()
	kept := make([]string, 0, len(env)+1)
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "BELAY_") && name != supervise.RunIDVar && name != state.DirVar && name != state.FoldVar && name != state.RehearsalVar {
			continue
		}
		kept = append(kept, kv)
	}
	return kept
}

// staysInMemory reports whether what the command prints is only kept.
func (c *command) staysInMemory() bool {
	_, tail := c.Stderr.(*supervise.Tail)
	return c.Stdout == nil && (c.Stderr == nil || tail)
}

// shareWriter lets one goroutine at a time write where both streams go to one writer, as os/exec does. A file needs no guard.
func (c *command) shareWriter() {
	if _, file := c.Stdout.(*os.File); file || c.Stdout == nil || !reflect.ValueOf(c.Stdout).Comparable() || c.Stdout != c.Stderr {
		return
	}
	shared := &sharedWriter{to: c.Stdout}
	c.Stdout, c.Stderr = shared, shared
}

// sharedWriter is a writer of several goroutines.
type sharedWriter struct {
	mu sync.Mutex
	to io.Writer
}

// Write implements [io.Writer].
func (w *sharedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

// check finds, before anything is started, what cannot work.
func (r *Settings) check(c *command, env []string) error {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return &belaytype.UsageError{Err: errors.New(message.NoCommand())}
	}
	for _, a := range c.Args {
		if strings.ContainsRune(a, 0) {
			return &belaytype.UsageError{Err: errors.New("an argument contains a NUL byte")}
		}
	}
	if why := r.unkept(c.name()); why != "" {
		return &belaytype.UsageError{Err: message.Error(why)}
	}
	if c.Dir != "" {
		info, err := os.Stat(c.Dir)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return &belaytype.UsageError{Err: fmt.Errorf("working directory %s does not exist", c.Dir)}
		case err != nil:
			return &belaytype.UsageError{Err: fmt.Errorf("%s: %w", fmt.Sprintf("working directory %s cannot be used", c.Dir), err)}
		case !info.IsDir():
			return &belaytype.UsageError{Err: fmt.Errorf("working directory %s is not a directory", c.Dir)}
		}
	}
	if err := supervise.CheckArgs(c.Args, env); err != nil {
		tooLong := &belaytype.TooLong{Err: err}
		if r.Words != nil {
			if text := r.Words(tooLong); text != "" {
				return &belaytype.UsageError{Err: errors.New(text)}
			}
		}
		return &belaytype.UsageError{Err: tooLong}
	}
	return nil
}

// Describe says in words why a gate refuses: see [message.GateState].
func Describe(r gate.Refusal) string { return message.GateState(r) }

// sentence says in one line how a command ended by itself.
func (c *call) sentence(o verdict.Outcome, code int, v verdict.Verdict) string {
	matched, evidence := "", v.Evidence
	if v.Rule == generic.FailOn { // else it would not be clear why an exit code of 0 is a failure
		matched = c.causeText(&OutputMatched{Code: code})
	}
	if evidence == fmt.Sprintf("exit %d", o.ExitCode) || evidence == "ended by "+o.Signal {
		evidence = ""
	}
	return message.Exited(c.command.name(), code, o.Signal, v.Class, matched, evidence)
}

// Preview asks the profile how the first attempt would be started. Nothing is started, written or read from stdin. It is
// asked before [Invocation.Run], in its place. The error says why it could not be started.
func (inv *Invocation) Preview() (belaytype.Preview, error) {
	c := inv.call
	p := belaytype.Preview{Args: c.command.Args, Gate: c.gateKey(), Policy: inv.pace.policy, Deadline: c.timeout(),
		Stall: c.stall(false), ToolStall: c.stall(true)}
	if s := c.runner.State; s != nil {
		dir := s.Dir
		if dir == "" {
			dir, _ = state.DefaultDir() // without a directory no session is found
		}
		c.state = &state.State{Dir: dir}
	}
	for _, s := range inv.standIns {
		next := inv.standInFor(&s, &inv.candidate)
		shown := belaytype.FallbackPreview{Name: s.Name(), Gate: next.call.gateKey()}
		plan, err := s.agent.Plan(next.kind.(*turn).next)
		if shown.Args = plan.Args; err != nil {
			shown.Refused = err.Error()
		}
		p.Fallbacks = append(p.Fallbacks, shown)
	}
	for _, refused := range inv.unfit {
		p.Fallbacks = append(p.Fallbacks, belaytype.FallbackPreview{Name: refused.Fallback, Refused: refused.Why})
	}
	return p, inv.kind.preview(&p)
}
