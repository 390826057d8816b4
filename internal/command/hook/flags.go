package hook

import (
	"time"

	"github.com/belay-run/belay/internal/command"
)

// hookFlags are the flags of a call.
type hookFlags struct {
	timeout                    time.Duration
	maxMemory                  command.MemoryFlag
	name                       string
	tags                       command.TagFlag
	failClosed, keepBackground bool
}
