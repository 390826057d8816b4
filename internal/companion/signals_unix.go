//go:build unix

package companion

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/belay-run/belay/internal/supervise"
)

// signals is what others send to us while a child runs.
type signals chan os.Signal

func catchSignals() signals {
	s := make(signals, 16)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		// Under nohup it is to be ignored; the child inherits that.
		if !signal.Ignored(sig) {
			signal.Notify(s, sig)
		}
	}
	return s
}

func (s signals) stop() {
	signal.Stop(s)
	close(s)
}

// pass gives them to the child, but for those that the terminal has sent to it too.
func (s signals) pass(p *supervise.Process, at supervise.Placement) {
	for got := range s {
		sig := got.(syscall.Signal)
		if (sig == syscall.SIGINT || sig == syscall.SIGQUIT) && at == supervise.SharedGroup {
			continue
		}
		p.Signal(sig)
	}
}
