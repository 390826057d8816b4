//go:build unix

package hook

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
	signal.Notify(got, syscall.SIGPIPE)
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		// A client under nohup goes on when its terminal is closed, and needs the hook's decision; the hook inherits that.
		if !signal.Ignored(sig) {
			signal.Notify(got, sig)
		}
	}
	go func() {
		for sig := range got {
			if sig != syscall.SIGPIPE {
				h.Stop(sig.(syscall.Signal))
			}
		}
	}()
}
