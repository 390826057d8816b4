package proctable

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// walkTimeout is how long a walk follows processes that are started meanwhile. On a busy machine there always are some
// by the time we run again: without the limit a walk took a minute.
const walkTimeout = 300 * time.Millisecond

// Walk visits every process of the system. Plain walks miss a chain that keeps forking: what was listed has ended when
// it is looked at, and its successor was not listed. So the walk goes on with the pids that were given out meanwhile
// until there are none. Then a process that was not visited has a parent that was, and that lived: a caller that ends
// the processes of a tree as they are visited, and finds none, knows that the tree is gone.
func Walk(visit func(Proc)) error {
	if noProc() {
		walkWithoutProc(visit)
		return nil
	}
	last := lastPID()
	pids, err := PIDs()
	if err != nil {
		return err
	}
	for _, pid := range pids {
		if p, err := Find(pid); err == nil {
			visit(p)
		}
	}
	begin := time.Now()
	for round := 0; ; round++ {
		now := lastPID()
		if now <= last { // the pids have wrapped around: the rest is left to the next walk
			break
		}
		for pid := last + 1; pid <= now; pid++ {
			if round > 0 && time.Since(begin) > walkTimeout {
				return nil
			}
			if p, err := Find(pid); err == nil && isProcess(pid) {
				visit(p)
			}
		}
		last = now
	}
	return nil
}

// WalkChildren visits our own children. Where the kernel does not list them it visits none.
func WalkChildren(visit func(Proc)) error {
	threads, err := numbers("/proc/self/task")
	for _, thread := range threads {
		list, _ := os.ReadFile("/proc/self/task/" + strconv.Itoa(thread) + "/children")
		for _, text := range bytes.Fields(list) {
			if pid, err := strconv.Atoi(string(text)); err == nil {
				if p, err := Find(pid); err == nil {
					visit(p)
				}
			}
		}
	}
	return err
}

// PIDs are the numbers of all processes.
func PIDs() ([]int, error) { return numbers("/proc") }

// numbers are the names in a directory that are numbers.
func numbers(path string) (list []int, err error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			list = append(list, n)
		}
	}
	return list, err
}

// lastPID is the pid that was given out last, to a process or to a thread.
func lastPID() int {
	data, _ := os.ReadFile("/proc/loadavg")
	last, _ := strconv.Atoi(string(bytes.TrimSpace(data[bytes.LastIndexByte(data, ' ')+1:])))
	return last
}

// isProcess reports whether pid belongs to a process and not to a further thread.
func isProcess(pid int) bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	return err == nil && bytes.Contains(data, []byte("\nTgid:\t"+strconv.Itoa(pid)+"\n"))
}

// Pending reports whether a signal waits for a stopped process to go on.
func Pending(pid int, sig syscall.Signal) bool { return inSet(pid, "ShdPnd", sig) }

// Ignores reports whether the process ignores a signal.
func (p Proc) Ignores(sig syscall.Signal) bool { return inSet(p.PID, "SigIgn", sig) }

// inSet reports whether a signal is in one of the sets that /proc/<pid>/status names.
func inSet(pid int, name string, sig syscall.Signal) bool {
	data, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	_, after, _ := bytes.Cut(data, []byte("\n"+name+":\t"))
	line, _, _ := bytes.Cut(after, []byte("\n"))
	set, _ := strconv.ParseUint(string(line), 16, 64)
	return set&(1<<(sig-1)) != 0
}

// Find reads one entry of the table. The error is os.ErrProcessDone if there is no such process.
func Find(pid int) (Proc, error) {
	var buf [maxStat]byte
	data, err := readOnce("/proc/"+strconv.Itoa(pid)+"/stat", buf[:])
	if errors.Is(err, fs.ErrNotExist) && noProc() {
		return findWithoutProc(pid)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return Proc{}, os.ErrProcessDone
	}
	if err != nil {
		return Proc{}, err
	}
	p, ok := parseStat(data)
	if !ok {
		return Proc{}, errors.New("/proc/<pid>/stat is not what it used to be")
	}
	return p, nil
}

// maxStat is more than /proc/<pid>/stat has: some fifty numbers of up to twenty digits, and a name of up to 64 bytes.
const maxStat = 2048

// readOnce reads a file that the kernel hands over in one piece. A walk reads one of each process: os.ReadFile makes seven system calls where three do.
func readOnce(path string, buf []byte) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	for errors.Is(err, unix.EINTR) {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, buf)
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Read(fd, buf)
	}
	return buf[:max(n, 0)], err
}

// parseStat takes /proc/<pid>/stat apart. The name stands in parentheses and may contain some itself.
func parseStat(data []byte) (Proc, bool) {
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 1 || end < open {
		return Proc{}, false
	}
	var f [22][]byte // there are thirty more, which nothing asks for
	rest := bytes.TrimSpace(data[end+1:])
	for i := range f {
		f[i], rest, _ = bytes.Cut(rest, []byte(" "))
		if len(f[i]) == 0 {
			return Proc{}, false
		}
	}
	var p Proc
	var err [6]error
	p.PID, err[0] = strconv.Atoi(string(data[:open-1]))
	p.PPID, err[1] = strconv.Atoi(string(f[1]))
	p.PGID, err[2] = strconv.Atoi(string(f[2]))
	p.SID, err[3] = strconv.Atoi(string(f[3]))
	flags, e := strconv.ParseUint(string(f[6]), 10, 64)
	err[4] = e
	p.Start, err[5] = strconv.ParseUint(string(f[19]), 10, 64)
	if errors.Join(err[:]...) != nil || p.PID <= 0 {
		return Proc{}, false
	}
	p.Name = string(data[open+1 : end])
	pages, _ := strconv.ParseInt(string(f[21]), 10, 64)
	p.Memory = pages * int64(os.Getpagesize())
	p.zombie = f[0][0] == 'Z' || f[0][0] == 'X'
	// A child's page faults are added to its parent's when the parent waits for it, and every child has some. A system
	// that counts none of the process's own does not count them at all.
	p.childEnded = string(f[7]) == "0" || string(f[8]) != "0"
	const kernelThread = 0x00200000
	p.kernel = flags&kernelThread != 0
	return p, true
}

// StartNow is the least Proc.Start of a process that is started now: hundredths of a second since boot. A start time
// that is not known is 0.
func StartNow() uint64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return 0
	}
	return uint64(t.Nano()) / 1e7
}

// markers are the runs that a process belongs to. The environment of other users' processes cannot be read.
func (p Proc) markers() []string {
	if p.kernel || p.zombie {
		return nil
	}
	// While a process executes another program it has no environment for a moment, whose end nothing tells.
	for pause := 50 * time.Microsecond; ; pause *= 2 {
		environ, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/environ")
		if err != nil || len(environ) > 0 || pause > time.Millisecond {
			return markers(environ)
		}
		time.Sleep(pause)
	}
}

// Signal signals exactly this process: not another one that has got its pid meanwhile.
func (p Proc) Signal(sig syscall.Signal) error {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return err
	}
	if now, err := Find(p.PID); err != nil || now.Start != p.Start {
		if fd >= 0 {
			unix.Close(fd)
		}
		return unix.ESRCH
	}
	if err != nil { // an old kernel, a strict container, no file left: there is no safer way
		return syscall.Kill(p.PID, sig)
	}
	defer unix.Close(fd)
	if err = unix.PidfdSendSignal(fd, sig, nil, 0); err == nil || errors.Is(err, unix.ESRCH) {
		return err
	}
	return syscall.Kill(p.PID, sig) // some sandboxes refuse the one and not the other
}
