//go:build linux || darwin

package terminal

import (
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/supervise/proctable"
)

// LedByUs reports whether we lead the foreground group of a terminal, alone, and read from it and write to it.
func LedByUs() bool {
	return inForeground(os.Getpid()) && IsTerminal(os.Stdin) && IsTerminal(os.Stdout)
}

// Shared reports whether we are in the foreground group of a terminal: then the kernel sends Ctrl-C to us and
// to a command in our group alike.
func Shared() bool { return inForeground(unix.Getpgrp()) }

// inForeground reports whether a group is the foreground group of our terminal.
func inForeground(group int) bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	front, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && front == group
}

// early counts the interrupts that were passed on to a child because they came to us before it had the terminal, and says whether such ones are expected now.
var early struct {
	passed   atomic.Int64
	expected atomic.Bool
}

// EarlyInterrupts reports how many interrupts of the terminal came to us before a child had it, and were passed on; and whether one that comes now will be.
func EarlyInterrupts() (passed int, expected bool) {
	return int(early.passed.Load()), early.expected.Load()
}

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), getTermios)
	return err == nil
}

// ReaderGone reports whether f is a pipe or a socket without a reader.
func ReaderGone(f *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLOUT}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n == 1 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}

// Terminal is the controlling terminal while a foreground child has it. The nil Terminal does nothing.
type Terminal struct {
	file    *os.File
	ours    int // our process group
	modes   *unix.Termios
	size    *unix.Winsize
	stopped chan syscall.Signal
	cont    chan os.Signal
	early   chan os.Signal // a Ctrl-C that came before the child had the terminal
	ended   chan struct{}
	jobs    sync.WaitGroup
}

// Open opens our controlling terminal, to be lent to a child. The error is that there is none.
func Open() (*Terminal, error) {
	file, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	t := &Terminal{file: file, ours: unix.Getpgrp(), stopped: make(chan syscall.Signal, 8),
		cont: make(chan os.Signal, 1), ended: make(chan struct{})}
	t.modes, _ = unix.IoctlGetTermios(int(file.Fd()), getTermios)
	t.size, _ = unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	signal.Notify(t.cont, syscall.SIGCONT)
	if !signal.Ignored(syscall.SIGINT) {
		t.early = make(chan os.Signal, 1)
		early.expected.Store(true)
		signal.Notify(t.early, syscall.SIGINT)
	}
	return t, nil
}

// Close ends the use of a terminal that is not lent.
func (t *Terminal) Close() {
	if t != nil {
		signal.Stop(t.cont)
		t.stopEarly()
		close(t.ended)
		t.jobs.Wait() // the file's number is about to be reused
		t.file.Close()
	}
}

// Lend gives the terminal to a child that has just started, if it is ours to give, and sees to its job control.
func (t *Terminal) Lend(pid int) {
	if t == nil {
		return
	}
	BeforeLend()
	if t.foreground() == t.ours {
		t.give(pid)
		t.passResize(pid)
	} else {
		t.stopEarly()
		t.early = nil
	}
	t.jobs.Go(func() { t.jobControl(pid) })
}

// BeforeLend is called between the start of a child and the moment it is given the terminal. Tests hold that open.
var BeforeLend = func() {}

// passResize tells a child that the terminal was resized before it was given it: the system has told our group then, and the
// child may have looked at the size already.
func (t *Terminal) passResize(group int) {
	size, err := unix.IoctlGetWinsize(int(t.file.Fd()), unix.TIOCGWINSZ)
	if err == nil && t.size != nil && *size != *t.size {
		syscall.Kill(-group, syscall.SIGWINCH)
	}
}

// earlyTimeout is how long a Ctrl-C that was typed before the child had the terminal may take to come to us: the system has told
// our group alone, and on a busy machine a signal is heard some time after it was sent.
const earlyTimeout = 5 * time.Second

func (t *Terminal) stopEarly() {
	if t.early != nil {
		signal.Stop(t.early)
		early.expected.Store(false)
	}
}

// give makes group the foreground group.
func (t *Terminal) give(group int) {
	inBackground(func() { unix.IoctlSetPointerInt(int(t.file.Fd()), unix.TIOCSPGRP, group) })
}

// foreground is the group that has the terminal; -1 if there is no terminal any more.
func (t *Terminal) foreground() int {
	group, err := unix.IoctlGetInt(int(t.file.Fd()), unix.TIOCGPGRP)
	if err != nil {
		return -1
	}
	return group
}

// Release takes the terminal back at the end from the child, or from one of its jobs, and sets its modes back if the child could not do so
// itself. If another group has it by now (the shell, after bg), it is left alone.
func (t *Terminal) Release(pid int, isJob func(group int) bool, broken bool) {
	if t == nil {
		return
	}
	front := t.foreground()
	lent := front == pid || isJob(front)
	if lent {
		t.give(t.ours)
	}
	if broken && t.modes != nil && (lent || front == t.ours) {
		inBackground(func() { unix.IoctlSetTermios(int(t.file.Fd()), setTermios, t.modes) })
	}
	t.Close()
}

// Note takes notice that the child has stopped. It does not wait: stops that come faster than we can follow count as
// one.
func (t *Terminal) Note(sig syscall.Signal) {
	if t != nil {
		select {
		case t.stopped <- sig:
		default:
		}
	}
}

// jobControl does for our only job what a shell does for its jobs.
func (t *Terminal) jobControl(child int) {
	tooLate := time.NewTimer(earlyTimeout)
	defer tooLate.Stop()
	for {
		select {
		case <-t.ended:
			return
		case <-t.early:
			early.passed.Add(1)
			syscall.Kill(-child, syscall.SIGINT)
		case <-tooLate.C:
			t.stopEarly()
		case sig := <-t.stopped:
			t.suspend(child, sig)
		case <-t.cont:
			t.resume(child)
		}
	}
}

// suspend follows a child that has stopped: the shell above us must see its job, which is us, stop.
func (t *Terminal) suspend(child int, sig syscall.Signal) {
	if (sig == syscall.SIGTTIN || sig == syscall.SIGTTOU) && t.foreground() == child {
		// It asked for the terminal in the instant before it was given it. A Ctrl-Z of that instant is still pending,
		// and SIGCONT discards it.
		suspended := proctable.Pending(child, syscall.SIGTSTP)
		syscall.Kill(-child, syscall.SIGCONT)
		if suspended {
			syscall.Kill(-child, syscall.SIGTSTP)
		}
		return
	}
	if t.foreground() == child {
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
	t.resume(child)
}

// resume lets the child go on, in front if we are in front.
func (t *Terminal) resume(child int) {
	if t.foreground() == t.ours {
		t.give(child)
	}
	syscall.Kill(-child, syscall.SIGCONT)
}
