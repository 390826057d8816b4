package cli

import (
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/belay-run/belay/internal/engine"
)

// signals is what others send to us.
type signals chan os.Signal

// catchSignals begins to catch it.
func catchSignals(bool) signals {
	s := make(signals, 4)
	signal.Notify(s, os.Interrupt, syscall.SIGTERM)
	return s
}

// pass gives them to the invocation: Ctrl-C stops the command, the second kills it.
func (s signals) pass(inv *engine.Invocation, _ bool, exit func(code int)) {
	asked := false
	for range s {
		switch {
		case inv.Over():
			exit(128 + int(syscall.SIGINT))
		case asked:
			inv.Kill()
		default:
			asked = true
			inv.Interrupt(&engine.Interrupt{Signal: int(syscall.SIGINT), Name: "Ctrl-C"}) // the command has got it too
		}
	}
}

func endAsShellExpects(io.Reader, int) {}
