package cli

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/belay-run/belay/internal/hook"
)

// stopHookBySignal passes on what asks us to stop.
func stopHookBySignal(h *hook.Hook) {
	got := make(chan os.Signal, 4)
	signal.Notify(got, os.Interrupt, syscall.SIGTERM)
	go func() {
		for range got {
			h.Stop(syscall.SIGTERM)
		}
	}()
}
