package supervise

import (
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/windows"

	"github.com/belay-run/belay/internal/supervise/executable"
)

// launch starts the process suspended, so that it is in its job before it can start another.
func (p *Process) launch() error {
	path, args, line, err := executable.Program(p.spec.Path, p.spec.Args)
	if err != nil {
		return err
	}
	attr := &os.ProcAttr{Dir: p.spec.Dir, Env: p.spec.environ(), Files: p.streams.Child[:], Sys: &syscall.SysProcAttr{CmdLine: line}}
	if p.ownGroup {
		attr.Sys.CreationFlags = windows.CREATE_NEW_PROCESS_GROUP
	}
	p.start = time.Now()
	process, job, err := startInJob(path, args, attr)
	if err != nil {
		return err
	}
	p.pid = process.Pid
	p.handle = handle{process: process, job: job}
	return nil
}

func (p *Process) await() {
	state, err := p.handle.process.Wait()
	if err == nil {
		p.status = waitStatus{state.ExitCode()}
		p.cpu = state.UserTime() + state.SystemTime()
	}
	close(p.exited)
}

// keep keeps what a command that has ended by itself has left running: it lifts the limit that ends it with the job. The job is
// kept too while there is something in it, for [Process.EndTree].
func (p *Process) keep(bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.handle.job == 0 {
		return
	}
	p.handle.job.release()
	if len(p.handle.job.members()) == 0 {
		p.handle.job.close()
		p.handle.job = 0
		return
	}
	p.handle.cleanup = runtime.AddCleanup(p, job.close, p.handle.job)
}

// giveTerminalBack has nothing to do: the console was not lent.
func (p *Process) giveTerminalBack(bool) {}

// Own returns a Supervisor that works as the zero value does: job objects need no owner.
func Own() *Supervisor { return &Supervisor{} }
