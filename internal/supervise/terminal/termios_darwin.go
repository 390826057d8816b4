package terminal

import (
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)

// inBackground calls f, which changes the terminal. A process that does so from the background is stopped by SIGTTOU,
// unless it ignores it. It does so for this call only: the next child would inherit an ignored signal.
func inBackground(f func()) {
	signal.Ignore(syscall.SIGTTOU)
	defer signal.Reset(syscall.SIGTTOU)
	f()
}
