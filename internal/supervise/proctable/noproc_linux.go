package proctable

import (
	"errors"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// errNoProc says what cannot be done where /proc is not mounted, as in some containers and chroots.
var errNoProc = errors.New("/proc is not mounted; without it what a killed belay has left cannot be found")

// noProc reports whether /proc is not there, or is something else.
func noProc() bool {
	_, err := os.Lstat("/proc/self/stat")
	return err != nil
}

// Check returns an error if it cannot be found out which processes are alive.
func Check() error {
	if noProc() {
		return errNoProc
	}
	return nil
}

// maxPID is the largest pid that Linux gives out, whatever kernel.pid_max is.
const maxPID = 1 << 22

// pidWalks counts walks without /proc, and highestPID is the highest pid that the last whole one has found.
var (
	pidWalks   atomic.Int64
	highestPID atomic.Int64
)

const (
	// wholeWalks is how many walks there are to one of all pids, and pidRoom how many pids beyond the highest known one
	// the others look at. Pids are given out in order.
	wholeWalks = 64
	pidRoom    = 1 << 14
)

// walkWithoutProc visits every process there is by trying pids: enough to end a tree where /proc cannot be read. To try all
// of them takes more than half a second.
func walkWithoutProc(visit func(Proc)) {
	whole := pidWalks.Add(1)%wholeWalks == 1
	end := min(int(highestPID.Load())+pidRoom, maxPID)
	if whole {
		end = maxPID
	}
	highest := 0
	for pid := 2; pid < end; pid++ {
		if _, _, errno := unix.RawSyscall(unix.SYS_GETPGID, uintptr(pid), 0, 0); errno != 0 {
			continue
		}
		highest = pid
		if p, err := findWithoutProc(pid); err == nil {
			visit(p)
		}
	}
	if whole {
		highestPID.Store(int64(highest))
	}
}

// findWithoutProc tells what the system calls tell of a process: its group, its session, and whether it is a child of
// ours. There is no start time, so that a process that gets the pid of another one cannot be told from it.
func findWithoutProc(pid int) (Proc, error) {
	group, err := unix.Getpgid(pid)
	if err != nil {
		return Proc{}, os.ErrProcessDone
	}
	// A thread has the group of its process, but no pidfd.
	fd, err := unix.PidfdOpen(pid, 0)
	if err == nil {
		unix.Close(fd)
	} else if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) {
		return Proc{}, os.ErrProcessDone
	}
	p := Proc{PID: pid, PGID: group, childEnded: true}
	p.SID, _ = unix.Getsid(pid)
	var info unix.Siginfo
	if unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) == nil {
		p.PPID = os.Getpid()
		p.zombie = info.Signo != 0
	}
	return p, nil
}
