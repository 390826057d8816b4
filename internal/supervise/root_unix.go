//go:build linux || darwin

package supervise

import (
	"errors"
	"sync"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/supervise/terminal"
)

// root is the command itself.
type root struct {
	pid      int
	pidfd    int  // waits for its end while the streams are read, by the same thread; -1 if goroutines read them
	ownGroup bool // it leads a process group, which is signalled with it
	term     *terminal.Terminal

	exited chan struct{} // closed when it has ended

	mu     sync.Mutex
	lock   *sync.Mutex // held while it is reaped; nil means mu
	reaped bool        // its pid may be that of another process; guarded by the lock, as are the three below
	status waitStatus
	cpu    time.Duration
	maxRSS int64
}

type waitStatus struct {
	syscall.WaitStatus
	lost bool // another part of the program took it: all we know is that the process is gone
}

func (s waitStatus) code() int {
	if s.Exited() && !s.lost {
		return s.ExitStatus()
	}
	return -1
}

func (s waitStatus) signal() syscall.Signal {
	if s.Signaled() {
		return s.WaitStatus.Signal()
	}
	return 0
}

// ended reports whether the root has ended.
func (r *root) ended() bool {
	select {
	case <-r.exited:
		return true
	default:
		return false
	}
}

// reapLock is what is held while the root is reaped.
func (r *root) reapLock() *sync.Mutex {
	if r.lock != nil {
		return r.lock
	}
	return &r.mu
}

// awaitEnd waits for the child itself; the library's way. Where the system can, it is not reaped yet: until then its
// pid, and with it the name of its group, cannot become another's.
func (r *root) awaitEnd() {
	defer close(r.exited)
	options := 0
	if r.term != nil {
		options = syscall.WUNTRACED
	}
	for {
		if awaitUnreaped(r.pid, options) {
			return
		}
		var ws syscall.WaitStatus
		var ru syscall.Rusage
		_, err := syscall.Wait4(r.pid, &ws, options, &ru)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err == nil && ws.Stopped():
			r.term.Note(ws.StopSignal())
		default:
			r.mu.Lock()
			r.take(ws, &ru, err)
			r.mu.Unlock()
			return
		}
	}
}

// reap takes the status of a root that has ended, if nothing else has taken it.
func (r *root) reap() {
	lock := r.reapLock()
	lock.Lock()
	defer lock.Unlock()
	for !r.reaped {
		var ws syscall.WaitStatus
		var ru syscall.Rusage
		if _, err := syscall.Wait4(r.pid, &ws, 0, &ru); !errors.Is(err, syscall.EINTR) {
			r.take(ws, &ru, err)
		}
	}
}

// take records how the root ended. It is called with the lock under which it was reaped.
func (r *root) take(ws syscall.WaitStatus, ru *syscall.Rusage, err error) {
	r.reaped = true
	r.status = waitStatus{ws, err != nil}
	r.cpu, r.maxRSS = time.Duration(ru.Utime.Nano()+ru.Stime.Nano()), int64(ru.Maxrss)*maxRSSUnit
}

// ask sends a signal of the ladder. A stopped process is continued: it could not handle the signal otherwise.
func (r *root) ask(sig syscall.Signal) (reached bool) {
	if sig == 0 {
		return true
	}
	r.signalTree(sig)
	if sig != syscall.SIGKILL {
		r.signalTree(syscall.SIGCONT)
	}
	return true
}

// signalTree sends a signal to the command, and to its group if that is its own.
func (r *root) signalTree(sig syscall.Signal) {
	lock := r.reapLock()
	lock.Lock()
	defer lock.Unlock()
	if r.reaped {
		return // the pid may be another's
	}
	if r.ownGroup && syscall.Kill(-r.pid, sig) == nil {
		// It has been signalled with its group, unless it has moved to another one.
		if group, err := syscall.Getpgid(r.pid); err != nil || group == r.pid {
			return
		}
	}
	syscall.Kill(r.pid, sig)
}

// signalRoot sends a signal to the command alone.
func (r *root) signalRoot(sig syscall.Signal) {
	lock := r.reapLock()
	lock.Lock()
	defer lock.Unlock()
	if !r.reaped {
		syscall.Kill(r.pid, sig)
	}
}
