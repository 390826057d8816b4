package run

import (
	"io"
	"syscall"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/engine"
)

// pass gives command.Signals to the invocation. A command that shares our console has got Ctrl-C too, and may take it for a key; a headless
// one has not, since it leads a group of its own. There the second request kills.
func pass(s command.Signals, inv *engine.Invocation, headless bool, exit func(code int)) {
	asked := false
	for got := range s {
		sig := got.(syscall.Signal)
		cause := command.Interrupt(sig)
		switch {
		case inv.Over():
			exit(128 + int(sig))
		case sig == syscall.SIGINT && !headless:
			inv.Interrupt(cause)
		case asked:
			inv.Kill()
		default:
			asked = true
			inv.Cancel(cause)
		}
	}
}

func endAsShellExpects(io.Reader, int) {}
