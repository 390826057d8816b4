//go:build linux || darwin

package supervise

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// TerminalPlacement says where a command that the user has typed belongs, so that the terminal works for it as it
// would without us: without a controlling terminal in a group of its own; alone in front of a terminal as the
// foreground job; and in our own group where we share that group with others (a pipeline, a script), because
// taking the terminal would take it away from them.
func TerminalPlacement() Placement {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return OwnGroup
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	alone := err == nil && group == os.Getpid() // we lead the foreground group
	if alone && IsTerminal(os.Stdin) && IsTerminal(os.Stdout) {
		return Foreground
	}
	return SharedGroup
}

// SharesTerminal reports whether we are in the foreground group of a terminal: then the kernel sends Ctrl-C to us and
// to a command in our group alike.
func SharesTerminal() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), getTermios)
	return err == nil
}

// terminal is the controlling terminal while a foreground child has it.
type terminal struct {
	file    *os.File
	ours    int // our process group
	modes   *unix.Termios
	stopped chan syscall.Signal
	cont    chan os.Signal
	ended   chan struct{}
}

func openTerminal() (*terminal, error) {
	file, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	t := &terminal{file: file, ours: unix.Getpgrp(), stopped: make(chan syscall.Signal, 8),
		cont: make(chan os.Signal, 1), ended: make(chan struct{})}
	t.modes, _ = unix.IoctlGetTermios(int(file.Fd()), getTermios)
	signal.Notify(t.cont, syscall.SIGCONT)
	return t, nil
}

func (t *terminal) close() {
	if t != nil {
		signal.Stop(t.cont)
		close(t.ended)
		t.file.Close()
	}
}

// give makes group the foreground group. We are in the background ourselves after the first time, and whoever
// calls from there gets SIGTTOU unless it is ignored. It is ignored for this call only: an ignored signal would
// be inherited by the next child.
func (t *terminal) give(group int) {
	signal.Ignore(syscall.SIGTTOU)
	defer signal.Reset(syscall.SIGTTOU)
	unix.IoctlSetPointerInt(int(t.file.Fd()), unix.TIOCSPGRP, group)
}

// foreground is the group that has the terminal.
func (t *terminal) foreground() int {
	group, err := unix.IoctlGetInt(int(t.file.Fd()), unix.TIOCGPGRP)
	if err != nil {
		return -1
	}
	return group
}

// release takes the terminal back from the child at the end, and sets its modes back if the child could not do so
// itself. If somebody else has it by now (the shell, after bg), it is none of our business.
func (t *terminal) release(child int, broken bool) {
	front := t.foreground()
	if front == child {
		t.give(t.ours)
	}
	if broken && t.modes != nil && (front == child || front == t.ours) {
		signal.Ignore(syscall.SIGTTOU)
		unix.IoctlSetTermios(int(t.file.Fd()), setTermios, t.modes)
		signal.Reset(syscall.SIGTTOU)
	}
	t.close()
}

// jobControl does for our only job what a shell does for its jobs.
func (t *terminal) jobControl(p *Process) {
	for {
		select {
		case <-t.ended:
			return
		case sig := <-t.stopped:
			t.suspend(p, sig)
		case <-t.cont:
			t.resume(p)
		}
	}
}

// suspend follows a child that has stopped: the shell above us must see its job, which is us, stop.
func (t *terminal) suspend(p *Process, sig syscall.Signal) {
	if (sig == syscall.SIGTTIN || sig == syscall.SIGTTOU) && t.foreground() == p.pid {
		// It asked for the terminal in the instant before it was given it.
		syscall.Kill(-p.pid, syscall.SIGCONT)
		return
	}
	t.pause(p, true)
	if t.foreground() == p.pid {
		t.give(t.ours)
	}
	syscall.Kill(0, syscall.SIGTSTP)
	// We stop about here. A group without a shell above it (orphaned, as under script) cannot be stopped; then
	// the child goes on too, as it would have done alone.
	select {
	case <-t.cont:
	case <-time.After(200 * time.Millisecond):
	case <-t.ended:
		return
	}
	t.resume(p)
}

// resume lets the child go on, in front if we are in front.
func (t *terminal) resume(p *Process) {
	if t.foreground() == t.ours {
		t.give(p.pid)
	}
	syscall.Kill(-p.pid, syscall.SIGCONT)
	t.pause(p, false)
}

func (t *terminal) pause(p *Process, on bool) {
	select {
	case p.paused <- on:
	case <-t.ended:
	}
}
