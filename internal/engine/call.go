package engine

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
)

// call is what all stages know of an invocation. Nothing in it changes once the first stage has begun.
type call struct {
	id      string
	runner  *Settings
	command command
	env     []string
	profile agent.Profile
	traits  traits
	begun   time.Time
	parent  string // the run that this one was started in; empty for none
	project string // the directory that its work belongs to; empty where nothing is kept
	emit    func(belaytype.Event)
	line    func(attempt int, line agent.Line) // an agent has printed it

	state  *state.State // nil if nothing is kept
	shared Shared       // nil if nothing is shared
	scopes SlotStore    // nil likewise
	live   *liveRecord

	secrets *redact.Known // is kept out of all that is put on record
}

// traits is what the stages must know of a kind of command.
type traits struct {
	kind     kindName
	gate     string // the gate that it takes part in unless the caller names one
	provider string // whose service it calls, in one word
	changes  bool   // it may change something on the other side

	// timeout is how long an attempt may take, stall how long it may show no life, toolStall while one of its tools runs.
	// Zero means no limit.
	timeout, stall, toolStall time.Duration
	// linger is how long it may stay after it has delivered its result; 0 means for ever.
	linger time.Duration
	// ladder is how it is stopped when a limit has passed; nil means as any other command.
	ladder supervise.Ladder
	// own is what the command was told of retries and waits by settings of its own. It counts where the caller says nothing.
	own agent.OwnRetries
	// unknownOption is the option of the command line that the profile does not know; empty if there is none.
	unknownOption string
	// ownLog is the file that scripts around the command expect a log of invocations in; empty if there is no such habit.
	ownLog string
	// showsWork says that an agent's CLI shows people on stderr what it does, in the form that was asked for.
	showsWork bool
	// login is that of an agent's CLI, where that is in a file.
	login agent.StoredLogin
	// tested are the versions that its profile is tested with.
	tested agent.Tested
}

// kindName says which kind of command a call is.
type kindName int

const (
	plainCommand kindName = iota
	callerCommand
	agentTurn
	agentConversation
)

// gateKey is the gate that the call takes part in; empty for none.
func (c *call) gateKey() string {
	switch {
	case c.runner.Gate.Off:
		return ""
	case c.runner.Gate.Key != "":
		return c.runner.Gate.Key
	}
	return c.traits.gate
}

// timeout is how long an attempt may take: what the caller said, else what the profile knows.
func (c *call) timeout() time.Duration {
	own := c.runner.Policy.Timeout
	own = cmp.Or(own, c.traits.timeout)
	return lower(own, c.runner.AtMost.Timeout)
}

// stall is how long the command may show no life; tools says that one of its tools runs.
func (c *call) stall(tools bool) time.Duration {
	own := c.traits.stall
	switch {
	case c.runner.Stall != 0:
		own = max(c.runner.Stall, 0)
	case tools:
		own = c.traits.toolStall
	}
	return lower(own, c.runner.AtMost.Stall)
}

// ownMaxWait reports whether how long may be waited is what the command itself was told, because the caller has not said.
func (c *call) ownMaxWait() bool {
	return c.traits.own.Set && c.runner.Policy.MaxWait == 0 && !c.runner.NoWait
}

// newOutput returns an Output whose file, if it needs one, is in the state directory.
func (c *call) newOutput() *Output {
	if c.state == nil {
		return newOutput("")
	}
	return newOutput(c.state.Dir)
}

// dir is the directory that the command runs in.
func (c *call) dir() string {
	dir := c.command.Dir
	if dir == "" {
		dir, _ = os.Getwd()
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return dir
}

// absolute is a path that the command may take from where it works. An empty one stays empty.
func (c *call) absolute(path string) string {
	if path != "" && !filepath.IsAbs(path) {
		path = filepath.Join(c.dir(), path)
	}
	return path
}

// causeText describes a cause in the words of the library's caller, if it has any: it may name its flags.
func (c *call) causeText(cause error) string {
	if c.runner.Words != nil {
		if text := c.runner.Words(cause); text != "" {
			return text
		}
	}
	return cause.Error()
}

// stopCode is the exit code for an invocation that was ended from outside.
func stopCode(cause error) int {
	if i, ok := asInterrupt(cause); ok {
		return 128 + i.Signal
	}
	return 128 + int(syscall.SIGTERM)
}

// cancelled is why the context has ended, if it has; else the given cause.
func cancelled(ctx context.Context, otherwise error) error {
	if c := context.Cause(ctx); c != nil {
		return c
	}
	return otherwise
}

// merged is the policy with what a preset says where the caller says nothing. Times are the caller's alone.
func merged(p, preset retry.Policy) retry.Policy {
	p.MaxRetries, p.CountThrottles = preset.MaxRetries, preset.CountThrottles
	p.BaseDelay = cmp.Or(p.BaseDelay, preset.BaseDelay)
	p.MaxDelay = cmp.Or(p.MaxDelay, preset.MaxDelay)
	p.Factor = cmp.Or(p.Factor, preset.Factor)
	if p.Jitter == (retry.Jitter{}) {
		p.Jitter = preset.Jitter
	}
	p.RetryTimeouts = cmp.Or(p.RetryTimeouts, preset.RetryTimeouts)
	if p.Delay == nil {
		p.Delay = preset.Delay
	}
	if p.Rand == nil {
		p.Rand = preset.Rand
	}
	return p
}

// checks reports whether work is checked before it counts.
func (c *call) checks() bool { return c.runner.Check.Line != "" || c.command.Check != nil }
