package companion

import (
	"os"
	"os/signal"

	"github.com/belay-run/belay/internal/supervise"
)

// signals is what others send to us while a child runs: Ctrl-C, which the console sends to the child too.
type signals chan os.Signal

func catchSignals() signals {
	s := make(signals, 4)
	signal.Notify(s, os.Interrupt)
	return s
}

func (s signals) stop() {
	signal.Stop(s)
	close(s)
}

func (s signals) pass(*supervise.Process, supervise.Placement) {
	for range s {
	}
}
