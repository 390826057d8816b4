package cli

import (
	"fmt"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
)

// memoryFlag is a limit of memory where it is no setting.
type memoryFlag int64

func (f *memoryFlag) String() string { return "" }
func (f *memoryFlag) Type() string   { return "SIZE" }

func (f *memoryFlag) Set(text string) error {
	n, err := config.ParseSize(text)
	if err == nil && !supervise.MemoryLimits() {
		err = message.Error(message.MemoryUntold())
	}
	*f = memoryFlag(n)
	return err
}

// ceilingsOf are the ceilings that the settings ask for. A flag that cannot be kept is refused; a setting is left out, which idleFlags says.
func ceilingsOf(s *config.Settings, known agent.Profile) (engine.Ceilings, error) {
	c := engine.Ceilings{Memory: s.MaxMemory, FreeDisk: s.MinFreeDisk, Agents: s.MaxAgents, Repeats: s.MaxRepeats}
	if c.Memory > 0 && !supervise.MemoryLimits() {
		if s.From("max-memory") == "--max-memory" {
			return c, usage(message.Error("--max-memory cannot be used here: "+message.MemoryUntold()), "")
		}
		c.Memory = 0
	}
	if c.Agents == 0 && c.Repeats == 0 {
		return c, nil
	}
	calls, agents := engine.TellsWork(known)
	for _, one := range []struct {
		name, what string
		limit      *int
		told       bool
	}{{"max-agents", "sub-agents", &c.Agents, agents}, {"max-repeats", "tool calls", &c.Repeats, calls}} {
		switch flag := "--" + one.name; {
		case one.told || *one.limit == 0:
		case s.From(one.name) == flag:
			return c, usage(message.Error(flag+" cannot be used here: "+message.Untold("the command", one.what)),
				message.AsIn(fmt.Sprintf("belay run %s 5 -- claude -p hi", flag)))
		default:
			*one.limit = 0
		}
	}
	return c, nil
}
