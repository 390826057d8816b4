package supervise

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// tree is a command and all that comes from it, which its job holds.
type tree struct {
	pid      int
	pidfd    int // there are none here: -1
	ownGroup bool

	mu     sync.Mutex
	handle handle // guarded by mu

	exited chan struct{} // closed when the root has ended
	status waitStatus    // of the root, as are the two below
	cpu    time.Duration
	maxRSS int64 // it is not known

	alone bool        // nothing else can be left; it is not known
	over  atomic.Bool // Run returns
}

// handle is the process and the job object that holds its tree.
type handle struct {
	process *os.Process
	job     job
	cleanup runtime.Cleanup // closes the job of a process that is no longer referred to
}

type waitStatus struct{ exit int }

func (s waitStatus) code() int              { return s.exit }
func (s waitStatus) signal() syscall.Signal { return 0 }

// owner does not exist here.
type owner interface{ disown() }

// init makes it the tree of a command that is about to be started.
func (t *tree) init(spec *Spec, _ owner) {
	t.pidfd, t.exited, t.ownGroup = -1, make(chan struct{}), spec.Placement != SharedGroup
}

// ended reports whether the root has ended.
func (t *tree) ended() bool {
	select {
	case <-t.exited:
		return true
	default:
		return false
	}
}

// reap has nothing to do: await has done it.
func (t *tree) reap() {}

// remember has nothing to do: the job does.
func (t *tree) remember() []Proc { return nil }

func (t *tree) ask(sig syscall.Signal) (reached bool) { return sig == 0 || t.signalTree(sig) }

// signalTree sends what the system has: Ctrl-Break for a group of its own, and termination. It reports whether there is a way
// to do so.
func (t *tree) signalTree(sig syscall.Signal) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case sig == syscall.SIGKILL && t.handle.job != 0:
		t.handle.job.terminate()
	case sig == syscall.SIGKILL:
		t.handle.process.Kill()
	case !t.ownGroup: // all that share our console would get it
		return false
	default:
		return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(t.pid)) == nil
	}
	return true
}

// signalRoot: there is nothing finer here than the group.
func (t *tree) signalRoot(sig syscall.Signal) { t.signalTree(sig) }

// survivors are the processes of the job that still run after the root has exited by itself.
func (t *tree) survivors(bool) []Proc {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.handle.job.members()
}

// endTree ends what is in the job, and waits until it is gone.
func (t *tree) endTree(bool, func() bool) (killed int, left []Proc) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.handle.job.members()
	if t.handle.job == 0 {
		t.handle.process.Kill()
		return 0, nil
	}
	t.handle.job.terminate()
	pause := time.Millisecond // a job does not tell when it is empty, so it is polled
	for begin := time.Now(); ; pause = min(2*pause, 20*time.Millisecond) {
		if left = t.handle.job.members(); len(left) == 0 || time.Since(begin) > killTimeout {
			break
		}
		time.Sleep(pause)
	}
	if len(left) == 0 {
		t.handle.cleanup.Stop()
		t.handle.job.close()
		t.handle.job = 0
	}
	return max(0, len(all)-len(left)), left
}
