package supervise

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// handle is the process and the job object that holds its tree.
type handle struct {
	process *os.Process
	job     job
	cleanup runtime.Cleanup // closes the job of a process that is no longer referred to
}

type waitStatus struct{ exit int }

func (s waitStatus) code() int              { return s.exit }
func (s waitStatus) signal() syscall.Signal { return 0 }

// terminal does nothing here: the console controls its terminal itself.
type terminal struct{}

func (t *terminal) release(*Process, bool) {}

// TerminalPlacement is always the same here: the console reaches all processes attached to it.
func TerminalPlacement() Placement { return SharedGroup }

// ReaderGone reports whether f is a pipe without a reader. It cannot be known here.
func ReaderGone(*os.File) bool { return false }

// SharesTerminal is false: there are no process groups in front of a console.
func SharesTerminal() bool { return false }

// IsTerminal reports whether f is a console.
func IsTerminal(f *os.File) bool {
	var mode uint32
	return windows.GetConsoleMode(windows.Handle(f.Fd()), &mode) == nil
}

// launch starts the process suspended, so that it is in its job before it can start another.
func (p *Process) launch() error {
	env := p.spec.Env
	if env == nil {
		env = os.Environ()
	}
	if p.spec.RunID != "" {
		env = Mark(env, p.spec.RunID)
	}
	path, args, line, err := program(p.spec.Path, p.spec.Args)
	if err != nil {
		return &lookFailure{fmt.Sprintf("%s cannot be started: %v", p.spec.Path, err), os.ErrPermission}
	}
	attr := &os.ProcAttr{Dir: p.spec.Dir, Env: env, Files: p.streams.child[:], Sys: &syscall.SysProcAttr{CmdLine: line}}
	if p.spec.Placement != SharedGroup {
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

// reap has nothing to do: await has done it.
func (p *Process) reap() {}

// remember has nothing to do: the job does.
func (p *Process) remember() []Proc { return nil }

func (p *Process) ask(sig syscall.Signal) (reached bool) { return sig == 0 || p.signalTree(sig) }

// signalTree sends what the system has: Ctrl-Break for a group of its own, and termination. It reports whether there is a way
// to do so.
func (p *Process) signalTree(sig syscall.Signal) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case sig == syscall.SIGKILL && p.handle.job != 0:
		p.handle.job.terminate()
	case sig == syscall.SIGKILL:
		p.handle.process.Kill()
	case p.spec.Placement == SharedGroup: // all that share our console would get it
		return false
	default:
		return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.pid)) == nil
	}
	return true
}

// signalRoot: there is nothing finer here than the group.
func (p *Process) signalRoot(sig syscall.Signal) { p.signalTree(sig) }

// survivors are the processes of the job that still run after the root has exited by itself.
func (p *Process) survivors(bool) []Proc {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.handle.job.members()
}

// endTree ends what is in the job, and waits until it is gone.
func (p *Process) endTree() (killed int, left []Proc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.handle.job.members()
	if p.handle.job == 0 {
		p.handle.process.Kill()
		return 0, nil
	}
	p.handle.job.terminate()
	pause := time.Millisecond // a job does not tell when it is empty, so it is polled
	for begin := time.Now(); ; pause = min(2*pause, 20*time.Millisecond) {
		if left = p.handle.job.members(); len(left) == 0 || time.Since(begin) > killTimeout {
			break
		}
		time.Sleep(pause)
	}
	if len(left) == 0 {
		p.handle.cleanup.Stop()
		p.handle.job.close()
		p.handle.job = 0
	}
	return max(0, len(all)-len(left)), left
}

// keepLeftovers keeps what a command that has ended by itself has left running: it lifts the limit that ends it with the job. The job is
// kept too while there is something in it, for [Process.EndTree].
func (p *Process) keepLeftovers() {
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

// owner does not exist here.
type owner struct{}

// Own returns a Supervisor that works as the zero value does: job objects need no owner.
func Own() *Supervisor { return &Supervisor{} }

// Disown undoes Own.
func (s *Supervisor) Disown() {}

// process looks one process up. The error is os.ErrProcessDone if there is none.
func process(pid int) (Proc, error) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return Proc{}, os.ErrProcessDone
	}
	if err != nil {
		return Proc{}, err
	}
	defer windows.CloseHandle(h)
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return Proc{}, err
	}
	over, err := windows.WaitForSingleObject(h, 0)
	return Proc{PID: pid, Start: uint64(created.Nanoseconds()), Name: imageName(h), zombie: err == nil && over == windows.WAIT_OBJECT_0}, nil
}

// imageName is the name of the executable that a process runs, without its suffix; empty if it cannot be had.
func imageName(h windows.Handle) string {
	buf := make([]uint16, windows.MAX_LONG_PATH)
	n := uint32(len(buf))
	if windows.QueryFullProcessImageName(h, 0, &buf[0], &n) != nil {
		return ""
	}
	return strings.TrimSuffix(filepath.Base(windows.UTF16ToString(buf[:n])), ".exe")
}

// walk visits no process: what a killed owner has left has ended with its job.
func walk(func(Proc)) error { return nil }

func (p Proc) markers() []string { return nil }

// signal asks a process to stop if it waits for that ([StopRequests]), and ends it otherwise.
func (p Proc) signal(sig syscall.Signal) error {
	proc, err := os.FindProcess(p.PID) // holds the process: its pid is not given to another one
	if err != nil {
		return err
	}
	defer proc.Release()
	if now, err := process(p.PID); err != nil || now.Start != p.Start {
		return os.ErrProcessDone
	}
	if sig == syscall.SIGTERM && requestStop(p) {
		return nil
	}
	return proc.Kill()
}
