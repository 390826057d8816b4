//go:build unix

package command

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/belaytype"
)

// forwarded are signals that mean something to the command and nothing to us. Each costs two switches of threads at
// every start, so those are left out that are not sent to a wrapper, or that the terminal sends to the command itself.
var forwarded = []os.Signal{syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}

// CatchSignals begins to catch what others send to us. pipes says that output may flow through us: then a broken pipe is
// an error to handle and must not be our end. (It is caught, not ignored: that would be inherited.)
func CatchSignals(pipes bool) Signals {
	s := make(Signals, 16)
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

// Interrupt is the cause of what a signal ends.
func Interrupt(sig syscall.Signal) *belaytype.Interrupt {
	return &belaytype.Interrupt{Signal: int(sig), Name: unix.SignalName(sig)}
}
