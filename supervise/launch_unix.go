//go:build linux || darwin

package supervise

import (
	"errors"
	"os"
	"syscall"
	"time"
)

type waitStatus struct{ syscall.WaitStatus }

func (s waitStatus) code() int {
	if s.Exited() {
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
func (p *Process) launch() error {
	if p.owner != nil {
		return p.owner.launch(p)
	}
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
		env = mark(env, p.spec.RunID)
	}
	attr := &syscall.ProcAttr{Dir: p.spec.Dir, Env: env, Sys: p.sysProcAttr()}
	for _, f := range p.streams.child {
		attr.Files = append(attr.Files, f.Fd())
	}
	if p.spec.Placement == Foreground {
		var err error
		if p.term, err = openTerminal(); err != nil {
			p.term, p.spec.Placement = nil, SharedGroup
			attr.Sys.Setpgid = false
		} else {
			p.paused = make(chan bool)
		}
	}
	p.start = time.Now()
	pid, err := syscall.ForkExec(p.spec.Path, p.spec.Args, attr)
	if err != nil {
		p.term.close()
		return &os.PathError{Op: "exec", Path: p.spec.Path, Err: err}
	}
	p.pid = pid
	if p.term != nil {
		p.term.give(pid)
		go p.term.jobControl(p)
	}
	return nil
}

// awaitRoot waits for the child itself; the library's way.
func (p *Process) awaitRoot() {
	options := 0
	if p.term != nil {
		options = syscall.WUNTRACED
	}
	for {
		var ws syscall.WaitStatus
		var ru syscall.Rusage
		_, err := syscall.Wait4(p.pid, &ws, options, &ru)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err == nil && ws.Stopped():
			p.term.stopped <- ws.StopSignal()
		default:
			// An error means that somebody else took the status: all we know is that it is gone.
			p.finish(ws, &ru, false)
			return
		}
	}
}

// finish records how the root ended. alone says that nothing else of the tree is left.
func (p *Process) finish(ws syscall.WaitStatus, ru *syscall.Rusage, alone bool) {
	p.status = waitStatus{ws}
	p.cpu = time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
	p.alone = alone
	close(p.exited)
}

// signalTree sends a signal to the command, and to its group if that is its own.
func (p *Process) signalTree(sig syscall.Signal) {
	if p.spec.Placement == SharedGroup {
		p.signalRoot(sig)
		return
	}
	if syscall.Kill(-p.pid, sig) != nil {
		p.signalRoot(sig)
	}
}
