package command

import (
	"fmt"
	"os"
	"syscall"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/supervise"
)

// Signals is what others send to us. It is caught until we end: to give it up again would cost as much as to begin.
type Signals chan os.Signal

// End takes requests to end: the first one is passed on, the second kills. A proxy ignores other signals; a broken pipe
// shows where it is written to.
func (s Signals) End(first func(syscall.Signal), second func()) {
	asked := false
	for got := range s {
		sig, ok := got.(syscall.Signal)
		if !ok || sig != syscall.SIGINT && sig != syscall.SIGTERM && sig != syscall.SIGHUP {
			continue
		}
		if asked {
			second()
			continue
		}
		asked = true
		first(sig)
	}
}

// StopRequested is the cause of a run that another belay has asked to stop, by a signal.
type StopRequested struct {
	supervise.StopRequest
	signal *belaytype.Interrupt
}

// RequestedStop is the cause of a run that was asked to stop by that signal.
func RequestedStop(by supervise.StopRequest, signal *belaytype.Interrupt) error {
	return &StopRequested{by, signal}
}

func (e *StopRequested) Error() string {
	if e.Run != "" {
		return message.Replaced(printable.ShortID(e.Run))
	}
	return fmt.Sprintf("cancelled by %s (pid %d)", e.By, e.PID)
}

// Unwrap returns the signal.
func (e *StopRequested) Unwrap() error { return e.signal }
