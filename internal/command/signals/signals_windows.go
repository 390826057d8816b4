package signals

import (
	"os"
	"os/signal"

	"github.com/belay-run/belay/internal/supervise"
)

// Signals is what others send to us while a child runs: Ctrl-C, which the console sends to the child too.
type Signals chan os.Signal

// Catch begins to catch them.
func Catch() Signals {
	s := make(Signals, 4)
	signal.Notify(s, os.Interrupt)
	return s
}

// Stop gives them up again.
func (s Signals) Stop() {
	signal.Stop(s)
	close(s)
}

// Pass gives none to the child.
func (s Signals) Pass(*supervise.Process, supervise.Placement) {
	for range s {
	}
}
