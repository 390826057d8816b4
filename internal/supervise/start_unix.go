//go:build linux || darwin

package supervise

import (
	"errors"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/supervise/executable"
	"github.com/belay-run/belay/internal/supervise/proctable"
	"github.com/belay-run/belay/internal/supervise/terminal"
)

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
		return p.owner.launch(&p.tree, p.fork)
	}
	p.born = proctable.StartNow()
	return p.fork()
}

// await waits for the root on the same thread.
func (p *Process) await() {
	if p.owner != nil {
		p.owner.await(&p.tree)
		return
	}
	p.awaitEnd()
}

func (p *Process) fork() error {
	if p.spec.Placement == Foreground {
		var err error
		if p.term, err = terminal.Open(); err != nil {
			p.spec.Placement, p.ownGroup = SharedGroup, false
		}
	}
	attr := &syscall.ProcAttr{Dir: p.spec.Dir, Env: p.spec.environ(), Sys: p.sysProcAttr()}
	for _, f := range p.streams.Child {
		attr.Files = append(attr.Files, f.Fd())
		if int(f.Fd()) < 0 { // which to ForkExec means: leave it closed
			p.term.Close()
			return &os.PathError{Op: "exec", Path: p.spec.Path, Err: os.ErrClosed}
		}
	}
	p.start = time.Now()
	done := proctable.MarkByLimit(p.runID, p.owner != nil)
	pid, err := syscall.ForkExec(p.spec.Path, p.spec.Args, attr)
	if errors.Is(err, syscall.ENOEXEC) && executable.IsShellScript(p.spec.Path) {
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
		p.term.Close()
		return &os.PathError{Op: "exec", Path: p.spec.Path, Err: err}
	}
	p.pid = pid
	p.term.Lend(pid)
	return nil
}

// giveTerminalBack takes the terminal from a command that has it.
func (p *Process) giveTerminalBack(broken bool) {
	p.term.Release(p.pid, func(group int) bool { // a job of a child that was a shell
		for _, q := range p.known {
			if q.PGID == group {
				return true
			}
		}
		return false
	}, broken)
}
