package supervise

import (
	"errors"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/belay-run/belay/internal/supervise/proctable"
)

// job is a job object: it holds a process and all that the process starts. Closing it ends what is in it, so that the tree goes
// with us even if we are killed. Zero means that the system has refused one; then only the process itself can be ended.
type job windows.Handle

// killedCode is the exit code of what is ended, as a shell shows that of SIGKILL.
const killedCode = 137

var resumeProcess = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

// startInJob starts a process in a job of its own. It is started suspended, since what it starts before it is in the job never gets there.
func startInJob(path string, args []string, attr *os.ProcAttr) (*os.Process, job, error) {
	j := newJob()
	if j == 0 || resumeProcess.Find() != nil {
		j.close()
		process, err := os.StartProcess(path, args, attr)
		return process, 0, err
	}
	suspended := *attr
	sys := *attr.Sys
	sys.CreationFlags |= windows.CREATE_SUSPENDED
	suspended.Sys = &sys
	process, err := os.StartProcess(path, args, &suspended)
	if err != nil {
		j.close()
		return nil, 0, err
	}
	assigned, resumed := false, false
	process.WithHandle(func(h uintptr) {
		assigned = windows.AssignProcessToJobObject(windows.Handle(j), windows.Handle(h)) == nil
		status, _, _ := resumeProcess.Call(h)
		resumed = status == 0
	})
	if !assigned {
		j.close()
		j = 0
	}
	if resumed {
		return process, j, nil
	}
	// It has not done anything yet, and never will.
	process.Kill()
	process.Wait()
	if process, err = os.StartProcess(path, args, attr); err == nil && j != 0 {
		process.WithHandle(func(h uintptr) { windows.AssignProcessToJobObject(windows.Handle(j), windows.Handle(h)) })
	}
	return process, j, err
}

func newJob() job {
	h, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0
	}
	j := job(h)
	if j.limit(windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE) != nil {
		j.close()
		return 0
	}
	return j
}

func (j job) limit(flags uint32) error {
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = flags
	_, err := windows.SetInformationJobObject(windows.Handle(j), windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return err
}

// release lets what is in the job outlive it.
func (j job) release() { j.limit(0) }

func (j job) terminate() { windows.TerminateJobObject(windows.Handle(j), killedCode) }

func (j job) close() {
	if j != 0 {
		windows.CloseHandle(windows.Handle(j))
	}
}

// ownMembers are processes that no command has left: conhost, which the system adds for a console and which ends with what it serves,
// and belayd, which a belay that failed within the tree has started, see [Detach].
var ownMembers = []string{"conhost", "belayd"}

// members are the processes in the job that have not ended.
func (j job) members() (list []Proc) {
	if j == 0 {
		return nil
	}
	for _, pid := range j.pids() {
		if p, err := proctable.Find(int(pid)); err == nil && !p.Zombie() && !slices.Contains(ownMembers, p.Name) {
			list = append(list, p)
		}
	}
	return list
}

// pids are the ids of the processes in the job.
func (j job) pids() []uintptr {
	const head = 8 / unsafe.Sizeof(uintptr(0)) // two counts of 32 bits are before the ids
	for n := uintptr(64); ; n *= 4 {
		buf := make([]uintptr, head+n)
		err := windows.QueryInformationJobObject(windows.Handle(j), windows.JobObjectBasicProcessIdList,
			uintptr(unsafe.Pointer(&buf[0])), uint32(uintptr(len(buf))*unsafe.Sizeof(buf[0])), nil)
		if errors.Is(err, windows.ERROR_MORE_DATA) && n < 1<<20 {
			continue
		}
		if err != nil {
			return nil
		}
		counts := (*[2]uint32)(unsafe.Pointer(&buf[0]))
		return buf[head : head+min(uintptr(counts[1]), n)]
	}
}
