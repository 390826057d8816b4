//go:build unix

package run

import (
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/supervise"
)

// writing is how long a result may take to be written once we are asked to end. Where a reader takes its time, it may take for ever.
const writing = time.Second

// pass gives signals to the invocation: the first request to end is passed on, the second kills. When the invocation is
// over, and only its result is still being written, a request ends us after a moment, and the second one at once. headless says that the command leads a session of
// its own, where no terminal reaches it.
func pass(s command.Signals, inv *engine.Invocation, headless bool, exit func(code int)) {
	asked, late, interrupts := false, false, 0
	for got := range s {
		sig := got.(syscall.Signal)
		// A Ctrl-C may reach us just before the command has the terminal. It is passed on, and counts as the command's, even if we hear of it after the command
		// has ended.
		early, passed := false, false
		if sig == syscall.SIGINT {
			n, expected := supervise.EarlyInterrupts()
			interrupts++
			passed = interrupts <= n
			early = passed || expected
		}
		switch {
		case sig == syscall.SIGPIPE:
		case sig != syscall.SIGINT && sig != syscall.SIGTERM && sig != syscall.SIGHUP:
			inv.Signal(sig)
		case inv.Over() && passed:
		case inv.Over() && !late:
			late = true
			time.AfterFunc(writing, func() { exit(128 + int(sig)) })
		case inv.Over():
			exit(128 + int(sig))
		case sig == syscall.SIGINT && !headless && (early || supervise.SharesTerminal()):
			// The command has got it too, from the terminal; an editor or a pager takes it for a key.
			inv.Interrupt(command.Interrupt(sig))
		case asked:
			inv.Kill()
		default:
			asked = true
			inv.Cancel(stopCause(inv, sig))
		}
	}
}

// stopCause is why a run is stopped by a signal: another belay has asked for it, or there is no more to know than the signal.
func stopCause(inv *engine.Invocation, sig syscall.Signal) error {
	if sig == syscall.SIGTERM {
		if by, ok := inv.TakeStopRequest(); ok {
			return command.RequestedStop(by, command.Interrupt(sig))
		}
	}
	return command.Interrupt(sig)
}

// endAsShellExpects ends us by SIGINT itself where a shell above us decides by that whether Ctrl-C was meant for its
// loop too. Its $? is 130 either way. Where there is no shell in our session the code alone has to do.
func endAsShellExpects(stdin io.Reader, code int) {
	sid, err := unix.Getsid(0)
	if code != 128+int(syscall.SIGINT) || err != nil || sid == os.Getpid() || !stdio.IsTerminal(stdin) {
		return
	}
	signal.Reset(syscall.SIGINT)
	syscall.Kill(os.Getpid(), syscall.SIGINT)
	time.Sleep(time.Second) // the signal may arrive a little later
}
