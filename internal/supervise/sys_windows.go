package supervise

import (
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// handle is the process and the job object that holds its tree. Closing the job ends what is in it, so that the
// tree goes with us even if we are killed.
type handle struct {
	process *os.Process
	job     windows.Handle
}

type waitStatus struct{ exit int }

func (s waitStatus) code() int              { return s.exit }
func (s waitStatus) signal() syscall.Signal { return 0 }

// terminal does nothing here: the console controls its terminal itself.
type terminal struct{}

func (t *terminal) release(*Process, bool) {}

// unread is not known here.
func unread(*os.File) int { return 0 }

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

func openPipe() (r, w *os.File, err error) { return os.Pipe() }

func (p *Process) launch() error {
	env := p.spec.Env
	if env == nil {
		env = os.Environ()
	}
	if p.spec.RunID != "" {
		env = mark(env, p.spec.RunID)
	}
	attr := &os.ProcAttr{Dir: p.spec.Dir, Env: env, Files: p.streams.child[:]}
	if p.spec.Placement != SharedGroup {
		attr.Sys = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	}
	p.start = time.Now()
	process, err := os.StartProcess(p.spec.Path, p.spec.Args, attr)
	if err != nil {
		return err
	}
	p.pid = process.Pid
	p.handle = handle{process: process, job: confine(process.Pid)}
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

// confine puts a process into a job of its own. Zero means that the system refused; then only the process itself
// can be ended.
func confine(pid int) windows.Handle {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0
	}
	proc, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		windows.CloseHandle(job)
		return 0
	}
	defer windows.CloseHandle(proc)
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if windows.AssignProcessToJobObject(job, proc) != nil {
		windows.CloseHandle(job)
		return 0
	}
	return job
}

// reap has nothing to do: await has done it.
func (p *Process) reap() {}

// remember has nothing to do: the job does.
func (p *Process) remember() []Proc { return nil }

func (p *Process) ask(sig syscall.Signal) {
	if sig != 0 {
		p.signalTree(sig)
	}
}

// signalTree: the system has Ctrl-Break for a group, and termination.
func (p *Process) signalTree(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case sig == syscall.SIGKILL && p.handle.job != 0:
		windows.TerminateJobObject(p.handle.job, 137)
	case sig == syscall.SIGKILL:
		p.handle.process.Kill()
	case p.spec.Placement != SharedGroup:
		windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.pid))
	}
}

// signalRoot: there is nothing finer here than the group.
func (p *Process) signalRoot(sig syscall.Signal) { p.signalTree(sig) }

func (p *Process) survivors(bool) []Proc { return nil }

func (p *Process) endTree() (int, []Proc) {
	p.signalTree(syscall.SIGKILL)
	return 0, nil
}

// keepLeftovers keeps what a successful command has left running: it lifts the limit that ends it with the job.
func (p *Process) keepLeftovers() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.handle.job != 0 {
		info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
		windows.SetInformationJobObject(p.handle.job, windows.JobObjectExtendedLimitInformation,
			uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
		windows.CloseHandle(p.handle.job)
		p.handle.job = 0
	}
}

// owner does not exist here.
type owner struct{}

// Own returns a Supervisor that works as the zero value does: job objects need no owner.
func Own() *Supervisor { return &Supervisor{} }

// Disown undoes Own.
func (s *Supervisor) Disown() {}

// process looks one process up. The error is os.ErrProcessDone if there is none.
func process(pid int) (Proc, error) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err == windows.ERROR_INVALID_PARAMETER {
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
	return Proc{PID: pid, Start: uint64(created.Nanoseconds()), zombie: exited.Nanoseconds() > created.Nanoseconds()}, nil
}

// walk visits no process: what a killed owner has left has ended with its job.
func walk(func(Proc)) error { return nil }

func (p Proc) markers() []string { return nil }

func (p Proc) signal(syscall.Signal) error {
	proc, err := os.FindProcess(p.PID) // holds the process: its pid is not given to another one
	if err != nil {
		return err
	}
	defer proc.Release()
	if now, err := process(p.PID); err != nil || now.Start != p.Start {
		return os.ErrProcessDone
	}
	return proc.Kill()
}
