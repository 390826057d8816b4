// Package call is what all stages of an invocation know of it: the command and what its profile says of it, the [Settings] of its caller, and where it is
// put on record. A [Call] does not change once the first stage has begun.
package call

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine/output"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
)

// Call is what all stages know of an invocation. Nothing in it changes once the first stage has begun.
type Call struct {
	ID       string
	Settings *Settings
	Command  Command
	Env      []string
	Profile  agent.Profile
	Traits   Traits
	Begun    time.Time
	Parent   string // the run that this one was started in; empty for none
	Project  string // the directory that its work belongs to; empty where nothing is kept
	// CallerDir is where its caller is, once it works in a tree of its own: then the directory of the Command is in there, and only that changes meanwhile.
	CallerDir string
	Emit      func(belaytype.Event)
	Line      func(attempt int, line agent.Line) // an agent has printed it

	State  *state.State // nil if nothing is kept
	Shared Shared       // nil if nothing is shared
	Scopes SlotStore    // nil likewise
	Live   *LiveRecord

	Secrets *redact.Known // is kept out of all that is put on record
}

// Traits is what the stages must know of a kind of command.
type Traits struct {
	Kind     KindName
	Gate     string // the gate that it takes part in unless the caller names one
	Provider string // whose service it calls, in one word
	Changes  bool   // it may change something on the other side

	// Timeout is how long an attempt may take, stall how long it may show no life, toolStall while one of its tools runs.
	// Zero means no limit.
	Timeout, Stall, ToolStall time.Duration
	// Linger is how long it may stay after it has delivered its result; 0 means for ever.
	Linger time.Duration
	// Ladder is how it is stopped when a limit has passed; nil means as any other command.
	Ladder supervise.Ladder
	// Daemons are patterns of the command lines of what it leaves running on purpose.
	Daemons []*regexp.Regexp
	// Own is what the command was told of retries and waits by settings of its own. It counts where the caller says nothing.
	Own agent.OwnRetries
	// UnknownOption is the option of the command line that the profile does not know; empty if there is none.
	UnknownOption string
	// OwnLog is the file that scripts around the command expect a log of invocations in; empty if there is no such habit.
	OwnLog string
	// ShowsWork says that an agent's CLI shows people on stderr what it does, in the form that was asked for.
	ShowsWork bool
	// Screen says that it has a terminal of its own, which is left to it.
	Screen bool
	// Login is that of an agent's CLI, where that is in a file.
	Login agent.StoredLogin
	// Tested are the versions that its profile is tested with.
	Tested agent.Tested
}

// KindName says which kind of command a call is.
type KindName int

const (
	PlainCommand KindName = iota
	CallerCommand
	AgentTurn
	AgentConversation
)

// GateKey is the gate that the call takes part in; empty for none.
func (c *Call) GateKey() string {
	switch {
	case c.Settings.Gate.Off:
		return ""
	case c.Settings.Gate.Key != "":
		return c.Settings.Gate.Key
	}
	return c.Traits.Gate
}

// Timeout is how long an attempt may take: what the caller said, else what the profile knows.
func (c *Call) Timeout() time.Duration {
	if c.Traits.Screen {
		return 0 // it may wait for its user for days
	}
	own := c.Settings.Policy.Timeout
	own = cmp.Or(own, c.Traits.Timeout)
	return Lower(own, c.Settings.AtMost.Timeout)
}

// Stall is how long the command may show no life; tools says that one of its tools runs.
func (c *Call) Stall(tools bool) time.Duration {
	own := c.Traits.Stall
	switch {
	case c.Traits.Screen:
		return 0
	case c.Settings.Stall != 0:
		own = max(c.Settings.Stall, 0)
	case tools:
		own = c.Traits.ToolStall
	}
	return Lower(own, c.Settings.AtMost.Stall)
}

// OwnMaxWait reports whether how long may be waited is what the command itself was told, because the caller has not said.
func (c *Call) OwnMaxWait() bool {
	return c.Traits.Own.Set && c.Settings.Policy.MaxWait == 0 && !c.Settings.NoWait
}

// NewOutput returns an Output whose file, if it needs one, is in the state directory.
func (c *Call) NewOutput() *output.Output {
	if c.State == nil {
		return output.New("")
	}
	return output.New(c.State.Dir)
}

// Dir is the directory that the command runs in.
func (c *Call) Dir() string {
	dir := c.Command.Dir
	if dir == "" {
		dir, _ = os.Getwd()
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return dir
}

// Absolute is a path that the command may take from where it works. An empty one stays empty.
func (c *Call) Absolute(path string) string {
	if path != "" && !filepath.IsAbs(path) {
		path = filepath.Join(c.Dir(), path)
	}
	return path
}

// CauseText describes a cause in the words of the library's caller, if it has any: it may name its flags.
func (c *Call) CauseText(cause error) string {
	if c.Settings.Words != nil {
		if text := c.Settings.Words(cause); text != "" {
			return text
		}
	}
	return cause.Error()
}

// StopCode is the exit code for an invocation that was ended from outside.
func StopCode(cause error) int {
	if i, ok := AsInterrupt(cause); ok {
		return 128 + i.Signal
	}
	return 128 + int(syscall.SIGTERM)
}

// Cancelled is why the context has ended, if it has; else the given cause.
func Cancelled(ctx context.Context, otherwise error) error {
	if c := context.Cause(ctx); c != nil {
		return c
	}
	return otherwise
}

// Merged is the policy with what a preset says where the caller says nothing. Times are the caller's alone.
func Merged(p, preset retry.Policy) retry.Policy {
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

// Checks reports whether work is checked before it counts.
func (c *Call) Checks() bool { return c.Settings.Check.Line != "" || c.Command.Check != nil }

// TooLate says that an attempt at that time would come too late.
func (c *Call) TooLate(at time.Time) *TooLate {
	p := &c.Settings.Policy
	switch {
	case c.Settings.NoWait:
		return &TooLate{NoWait: true}
	case p.TotalTimeout > 0 && at.After(c.Begun.Add(p.TotalTimeout)):
		return &TooLate{Total: true, Limit: p.TotalTimeout}
	case c.OwnMaxWait() && c.Traits.Own.MaxWait != 0:
		return &TooLate{Limit: max(c.Traits.Own.MaxWait, 0), Setting: c.Traits.Own.Setting}
	case p.MaxWait == 0:
		return &TooLate{Limit: 5 * time.Minute} // as [retry.Policy] says
	}
	return &TooLate{Limit: max(p.MaxWait, 0)}
}

// Entry is an entry of the log with what all of an invocation have.
func (c *Call) Entry() journal.Entry {
	set := c.Settings
	return journal.Entry{Timestamp: journal.Time{Time: time.Now()}, Invocation: c.ID, Status: journal.Success, Parent: c.Parent, Project: c.Project,
		Name: set.Labels.Name, Tags: set.Labels.Tags, Batch: set.Task.Batch, Task: set.Task.ID, Line: set.Task.Line}
}

// Log is the log of all attempts, which there is if OnRecord says so.
func (c *Call) Log() journal.Log {
	log := c.State.Log(func(path string) { c.Emit(belaytype.LogLarge{Path: path}) })
	log.Secrets = c.Secrets
	return log
}

// OnRecord reports whether the invocation is put on record.
func (c *Call) OnRecord() bool { return c.State != nil && !c.Settings.NoRecord }

// Append puts an entry into the log of all attempts.
func (c *Call) Append(e journal.Entry) {
	if !c.OnRecord() {
		return
	}
	log := c.Log()
	if err := log.Append(e); err != nil {
		c.Live.Trouble(err)
	}
}
