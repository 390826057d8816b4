//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/belay-run/belay/internal/hook"
)

// stopHookBySignal passes on what asks us to stop: the client has given up. SIGPIPE is caught so that a client that does
// not listen any more is not our end before the hook's.
func stopHookBySignal(h *hook.Hook) {
	got := make(chan os.Signal, 4)
	signal.Notify(got, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
	go func() {
		for sig := range got {
			if sig != syscall.SIGPIPE {
				h.Stop(sig.(syscall.Signal))
			}
		}
	}()
}
