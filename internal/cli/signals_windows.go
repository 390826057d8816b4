package cli

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/belay-run/belay"
)

type signals struct {
	c    chan os.Signal
	done chan struct{}
}

// catchSignals begins to catch what others send to us.
func catchSignals() *signals {
	s := &signals{c: make(chan os.Signal, 4), done: make(chan struct{})}
	signal.Notify(s.c, os.Interrupt, syscall.SIGTERM)
	return s
}

// pass gives them to the invocation: Ctrl-C stops the command, the second kills it.
func (s *signals) pass(inv *belay.Invocation) {
	for asked := false; ; asked = true {
		select {
		case <-s.done:
			return
		case <-s.c:
			if asked {
				inv.Kill()
			} else {
				inv.Cancel(&belay.Interrupt{Signal: int(syscall.SIGINT), Name: "Ctrl-C", Already: true})
			}
		}
	}
}

func (s *signals) stop() {
	signal.Stop(s.c)
	close(s.done)
}

func endAsShellExpects(int) {}
