//go:build unix

package top

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// inForeground reports whether our process group has the terminal.
func inForeground(tty *os.File) bool {
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// canStop reports whether Ctrl-Z may stop us: the system stops a process only if a shell in its session can continue it, and
// what has asked to be stopped waits for that shell.
func canStop() bool {
	parent := unix.Getppid()
	session, err := unix.Getsid(parent)
	own, _ := unix.Getsid(0)
	group, _ := unix.Getpgid(parent)
	return err == nil && session == own && group != unix.Getpgrp()
}

// notifyContinued tells when we continue after we were stopped.
func notifyContinued(c chan<- os.Signal) { signal.Notify(c, unix.SIGCONT) }
