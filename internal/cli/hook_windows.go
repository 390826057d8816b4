package cli

import (
	"syscall"

	"github.com/belay-run/belay/internal/hook"
)

// stopHookBySignal passes on what asks us to stop.
func stopHookBySignal(h *hook.Hook) {
	got := catchSignals(false)
	go func() {
		for range got {
			h.Stop(syscall.SIGTERM)
		}
	}()
}
