//go:build unix

package term

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// tty is a real terminal.
type tty struct{ file *os.File }

// newTerminal returns the terminal that a file is; nil if it is not the one that controls us, so that it cannot be known whose it is.
func newTerminal(file *os.File) terminal {
	if _, err := unix.IoctlGetInt(int(file.Fd()), unix.TIOCGPGRP); err != nil {
		return nil
	}
	return tty{file}
}

func (t tty) width() int { return width(t.file) }

func (t tty) inFront() bool {
	group, err := unix.IoctlGetInt(int(t.file.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

func (t tty) writable() bool { return takesOutput(t.file) }

// takesOutput reports whether a terminal takes output now: after Ctrl-S it does not. In doubt it does, as on macOS, where a terminal cannot
// be polled.
func takesOutput(file *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(file.Fd()), Events: unix.POLLOUT}}
	n, err := unix.Poll(fds, 0)
	return err != nil || n == 1
}

func (t tty) suspends() (asked <-chan os.Signal, stop, end func()) {
	if signal.Ignored(syscall.SIGTSTP) {
		return nil, nil, func() {}
	}
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGTSTP)
	return caught, stopSelf, func() { signal.Stop(caught) }
}

// sameTerminal reports whether two files are one terminal.
func sameTerminal(a, b *os.File) bool {
	var of [2]unix.Stat_t
	for i, f := range []*os.File{a, b} {
		if unix.Fstat(int(f.Fd()), &of[i]) != nil || of[i].Mode&unix.S_IFMT != unix.S_IFCHR {
			return false
		}
	}
	return of[0].Rdev == of[1].Rdev
}
