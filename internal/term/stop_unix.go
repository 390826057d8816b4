//go:build unix && !linux

package term

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// stopSelf stops this process until somebody lets it go on, if a shell is above it that can. Go keeps its handler of a signal that was
// caught once, so a SIGTSTP would not stop us.
func stopSelf() {
	parent := unix.Getppid()
	session, err := unix.Getsid(parent)
	if own, e := unix.Getsid(0); err != nil || e != nil || session != own {
		return
	}
	if group, err := unix.Getpgid(parent); err == nil && group != unix.Getpgrp() {
		syscall.Kill(syscall.Getpid(), syscall.SIGSTOP)
	}
}
