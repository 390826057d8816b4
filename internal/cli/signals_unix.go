//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/supervise"
)

// forwarded are signals that mean something to the command and nothing to us. Each costs two switches of threads at
// every start, so those are left out that nobody sends to a wrapper, or that the terminal sends to the command itself.
var forwarded = []os.Signal{syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}

type signals struct {
	c    chan os.Signal
	done chan struct{}
}

// catchSignals begins to catch what others send to us.
func catchSignals() *signals {
	s := &signals{c: make(chan os.Signal, 16), done: make(chan struct{})}
	signal.Notify(s.c, forwarded...)
	// A broken pipe is an error for whoever writes; a handler, unlike ignoring it, is not inherited.
	signal.Notify(s.c, syscall.SIGPIPE)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		// Under nohup, or in the background of a script, it is to be ignored; the command inherits that.
		if !signal.Ignored(sig) {
			signal.Notify(s.c, sig)
		}
	}
	return s
}

// pass gives them to the invocation: the first request to end is passed on, the second kills.
func (s *signals) pass(inv *belay.Invocation) {
	asked := false
	for {
		select {
		case <-s.done:
			return
		case got := <-s.c:
			switch sig := got.(syscall.Signal); sig {
			case syscall.SIGPIPE:
			case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP:
				if asked {
					inv.Kill()
					continue
				}
				asked = true
				inv.Cancel(&belay.Interrupt{Signal: int(sig), Name: unix.SignalName(sig),
					Already: sig == syscall.SIGINT && supervise.SharesTerminal()})
			default:
				inv.Signal(sig)
			}
		}
	}
}

func (s *signals) stop() {
	signal.Stop(s.c)
	close(s.done)
}

// endAsShellExpects ends us by SIGINT itself where a shell above us decides by that whether Ctrl-C was meant for its
// loop too. Its $? is 130 either way. Where there is no shell in our session the code alone has to do.
func endAsShellExpects(code int) {
	sid, err := unix.Getsid(0)
	if code != 128+int(syscall.SIGINT) || err != nil || sid == os.Getpid() || !supervise.IsTerminal(os.Stdin) {
		return
	}
	signal.Reset(syscall.SIGINT)
	syscall.Kill(os.Getpid(), syscall.SIGINT)
}
