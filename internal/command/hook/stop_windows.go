package hook

import (
	"syscall"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/hook"
)

// stopHookBySignal passes on what asks us to stop.
func stopHookBySignal(h *hook.Hook) {
	got := command.CatchSignals(false)
	go func() {
		for range got {
			h.Stop(syscall.SIGTERM)
		}
	}()
}
