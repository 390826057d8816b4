//go:build linux || darwin

package supervise

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/safefile"
)

// handle says whether the root is reaped: then its pid may be that of another process.
type handle struct{ reaped bool }

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

// launch starts the child. It is called on a locked thread.
//
// It waits a moment for a file that is open for writing, which the kernel does not execute. Often such a file was written just now by a program with threads, and is
// still open in a forked child of it that has not called exec yet. These are moments, not failures of a service: package retry waits for those.
func (p *Process) launch() error {
	for pause := 5 * time.Millisecond; ; pause *= 2 {
		err := p.tryLaunch()
		if !errors.Is(err, syscall.ETXTBSY) || pause > 400*time.Millisecond {
			return err
		}
		time.Sleep(pause)
	}
}

func (p *Process) tryLaunch() error {
	if p.owner != nil {
		return p.owner.launch(p)
	}
	p.born = startNow()
	return p.fork()
}

// await waits for the root on the same thread.
func (p *Process) await() {
	if p.owner != nil {
		p.owner.await(p)
		return
	}
	p.awaitRoot()
}

func (p *Process) fork() error {
	env := p.spec.Env
	if env == nil {
		env = os.Environ()
	}
	if p.spec.RunID != "" {
		env = Mark(env, p.spec.RunID)
	}
	if p.spec.Placement == Foreground {
		var err error
		if p.term, err = openTerminal(); err != nil {
			p.spec.Placement = SharedGroup
		}
	}
	attr := &syscall.ProcAttr{Dir: p.spec.Dir, Env: env, Sys: p.sysProcAttr()}
	for _, f := range p.streams.child {
		attr.Files = append(attr.Files, f.Fd())
		if int(f.Fd()) < 0 { // which to ForkExec means: leave it closed
			p.term.close()
			return &os.PathError{Op: "exec", Path: p.spec.Path, Err: os.ErrClosed}
		}
	}
	p.start = time.Now()
	done := p.markByLimit()
	pid, err := syscall.ForkExec(p.spec.Path, p.spec.Args, attr)
	if errors.Is(err, syscall.ENOEXEC) && isShellScript(p.spec.Path) {
		pid, err = syscall.ForkExec("/bin/sh", slices.Concat([]string{"/bin/sh", p.spec.Path}, p.spec.Args[min(1, len(p.spec.Args)):]), attr)
	}
	if errors.Is(err, syscall.EPERM) && dropDeathSignal(attr.Sys) {
		pid, err = syscall.ForkExec(p.spec.Path, p.spec.Args, attr)
	}
	done(pid)
	if errors.Is(err, syscall.EBADF) { // package syscall moves a pipe above these files, which are open: there is no number left
		err = syscall.EMFILE
	}
	if err != nil {
		p.term.close()
		return &os.PathError{Op: "exec", Path: p.spec.Path, Err: err}
	}
	p.pid = pid
	p.term.lend(p)
	return nil
}

// isShellScript reports whether an executable file that the kernel cannot execute is a script without a first line that
// names its interpreter. Shells, and execvp(3), run such a file with sh.
func isShellScript(path string) bool {
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, 512)
	n, _ := io.ReadFull(f, start)
	line, _, _ := bytes.Cut(start[:n], []byte("\n"))
	return !bytes.ContainsAny(line, "\x00\x7f")
}

// awaitRoot waits for the child itself; the library's way. Where the system can, it is not reaped yet: until then its
// pid, and with it the name of its group, cannot become another's.
func (p *Process) awaitRoot() {
	defer close(p.exited)
	options := 0
	if p.term != nil {
		options = syscall.WUNTRACED
	}
	for {
		if awaitUnreaped(p.pid, options) {
			return
		}
		var ws syscall.WaitStatus
		var ru syscall.Rusage
		_, err := syscall.Wait4(p.pid, &ws, options, &ru)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err == nil && ws.Stopped():
			p.term.note(ws.StopSignal())
		default:
			p.mu.Lock()
			p.take(ws, &ru, err)
			p.mu.Unlock()
			return
		}
	}
}

// reap takes the status of a root that has ended.
func (p *Process) reap() {
	if p.owner != nil {
		return // it has reaped it
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.handle.reaped {
		var ws syscall.WaitStatus
		var ru syscall.Rusage
		if _, err := syscall.Wait4(p.pid, &ws, 0, &ru); !errors.Is(err, syscall.EINTR) {
			p.take(ws, &ru, err)
		}
	}
}

// take records how the root ended. It is called with the lock under which it was reaped.
func (p *Process) take(ws syscall.WaitStatus, ru *syscall.Rusage, err error) {
	p.handle.reaped = true
	p.status = waitStatus{ws, err != nil}
	p.cpu, p.maxRSS = time.Duration(ru.Utime.Nano()+ru.Stime.Nano()), int64(ru.Maxrss)*maxRSSUnit
}

// ask sends a signal of the ladder. A stopped process is continued: it could not handle the signal otherwise.
func (p *Process) ask(sig syscall.Signal) (reached bool) {
	if sig == 0 {
		return true
	}
	p.signalTree(sig)
	if sig != syscall.SIGKILL {
		p.signalTree(syscall.SIGCONT)
	}
	return true
}

// signalTree sends a signal to the command, and to its group if that is its own.
func (p *Process) signalTree(sig syscall.Signal) {
	lock := p.reapLock()
	lock.Lock()
	defer lock.Unlock()
	if p.handle.reaped {
		return // the pid may be another's
	}
	if p.spec.Placement != SharedGroup && syscall.Kill(-p.pid, sig) == nil {
		// It has been signalled with its group, unless it has moved to another one.
		if group, err := syscall.Getpgid(p.pid); err != nil || group == p.pid {
			return
		}
	}
	syscall.Kill(p.pid, sig)
}

// signalRoot sends a signal to the command alone.
func (p *Process) signalRoot(sig syscall.Signal) {
	lock := p.reapLock()
	lock.Lock()
	defer lock.Unlock()
	if !p.handle.reaped {
		syscall.Kill(p.pid, sig)
	}
}
