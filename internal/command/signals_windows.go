package command

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/supervise"
)

// CatchSignals begins to catch what others send to us: Ctrl-C, the end of the console, and what belay cancel asks for, which counts as SIGTERM.
func CatchSignals(bool) Signals {
	s := make(Signals, 4)
	signal.Notify(s, os.Interrupt, syscall.SIGTERM)
	go func() {
		for range supervise.StopRequests() {
			s <- syscall.SIGTERM
		}
	}()
	return s
}

// Interrupt is the cause of what a signal ends.
func Interrupt(sig syscall.Signal) *belaytype.Interrupt {
	name := "Ctrl-C"
	if sig == syscall.SIGTERM {
		name = "SIGTERM"
	}
	return &belaytype.Interrupt{Signal: int(sig), Name: name}
}
