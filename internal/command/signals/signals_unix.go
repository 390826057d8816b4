//go:build unix

package signals

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/belay-run/belay/internal/supervise"
)

// Signals is what others send to us while a child runs.
type Signals chan os.Signal

// Catch begins to catch them.
func Catch() Signals {
	s := make(Signals, 16)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		// Under nohup it is to be ignored; the child inherits that.
		if !signal.Ignored(sig) {
			signal.Notify(s, sig)
		}
	}
	return s
}

// Stop gives them up again.
func (s Signals) Stop() {
	signal.Stop(s)
	close(s)
}

// Pass gives them to the child, but for those that the terminal has sent to it too.
func (s Signals) Pass(p *supervise.Process, at supervise.Placement) {
	for got := range s {
		sig := got.(syscall.Signal)
		if (sig == syscall.SIGINT || sig == syscall.SIGQUIT) && at == supervise.SharedGroup {
			continue
		}
		p.Signal(sig)
	}
}
