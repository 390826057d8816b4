package cli

import (
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
func ceilingsOf(s *config.Settings) (engine.Ceilings, error) {
	c := engine.Ceilings{Memory: s.MaxMemory, FreeDisk: s.MinFreeDisk, Agents: s.MaxAgents, Repeats: s.MaxRepeats}
	if c.Memory > 0 && !supervise.MemoryLimits() {
		if s.From("max-memory") == "--max-memory" {
			return c, usage(message.Error("--max-memory cannot be used here: "+message.MemoryUntold()), "")
		}
		c.Memory = 0
	}
	return c, nil
}
