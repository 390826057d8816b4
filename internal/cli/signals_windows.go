package cli

import (
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/supervise"
)

// signals is what others send to us.
type signals chan os.Signal

// catchSignals begins to catch it: Ctrl-C, the end of the console, and what belay cancel asks for, which counts as SIGTERM.
func catchSignals(bool) signals {
	s := make(signals, 4)
	signal.Notify(s, os.Interrupt, syscall.SIGTERM)
	go func() {
		for range supervise.StopRequests() {
			s <- syscall.SIGTERM
		}
	}()
	return s
}

// pass gives them to the invocation. A command that shares our console has got Ctrl-C too, and may take it for a key; a headless
// one has not, since it leads a group of its own. There the second request kills.
func (s signals) pass(inv *engine.Invocation, headless bool, exit func(code int)) {
	asked := false
	for got := range s {
		sig := got.(syscall.Signal)
		cause := interrupt(sig)
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

func interrupt(sig syscall.Signal) *belaytype.Interrupt {
	name := "Ctrl-C"
	if sig == syscall.SIGTERM {
		name = "SIGTERM"
	}
	return &belaytype.Interrupt{Signal: int(sig), Name: name}
}

func endAsShellExpects(io.Reader, int) {}
