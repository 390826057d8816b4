//go:build unix

package cli

import (
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/supervise"
)

// forwarded are signals that mean something to the command and nothing to us. Each costs two switches of threads at
// every start, so those are left out that are not sent to a wrapper, or that the terminal sends to the command itself.
var forwarded = []os.Signal{syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}

// signals is what others send to us. It is caught until we end: to give it up again would cost as much as to begin.
type signals chan os.Signal

// catchSignals begins to catch what others send to us. pipes says that output may flow through us: then a broken pipe is
// an error to handle and must not be our end. (It is caught, not ignored: that would be inherited.)
func catchSignals(pipes bool) signals {
	s := make(signals, 16)
	signal.Notify(s, forwarded...)
	if pipes {
		signal.Notify(s, syscall.SIGPIPE)
	}
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		// Under nohup, or in the background of a script, it is to be ignored; the command inherits that.
		if !signal.Ignored(sig) {
			signal.Notify(s, sig)
		}
	}
	return s
}

// writing is how long a result may take to be written once we are asked to end. Where a reader takes its time, it may take for ever.
const writing = time.Second

// pass gives them to the invocation: the first request to end is passed on, the second kills. When the invocation is
// over, and only its result is still being written, a request ends us after a moment, and the second one at once. headless says that the command leads a session of
// its own, where no terminal reaches it.
func (s signals) pass(inv *engine.Invocation, headless bool, exit func(code int)) {
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
			inv.Interrupt(interrupt(sig))
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
			return &stopRequested{by, interrupt(sig)}
		}
	}
	return interrupt(sig)
}

func interrupt(sig syscall.Signal) *belaytype.Interrupt {
	return &belaytype.Interrupt{Signal: int(sig), Name: unix.SignalName(sig)}
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
