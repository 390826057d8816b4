package supervise

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// processes reads the system's process table. Processes that end meanwhile are left out.
func processes() (table, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	t := make(table, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := process(pid); ok {
				t = append(t, p)
			}
		}
	}
	return t, nil
}

// process reads one entry of the table.
func process(pid int) (Proc, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Proc{}, false
	}
	return parseStat(data)
}

// parseStat takes /proc/<pid>/stat apart. The name stands in parentheses and may contain some itself.
func parseStat(data []byte) (Proc, bool) {
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 1 || end < open {
		return Proc{}, false
	}
	f := bytes.Fields(data[end+1:])
	if len(f) < 20 {
		return Proc{}, false
	}
	var p Proc
	var err [5]error
	p.PID, err[0] = strconv.Atoi(string(data[:open-1]))
	p.PPID, err[1] = strconv.Atoi(string(f[1]))
	p.PGID, err[2] = strconv.Atoi(string(f[2]))
	p.SID, err[3] = strconv.Atoi(string(f[3]))
	p.Start, err[4] = strconv.ParseUint(string(f[19]), 10, 64)
	for _, e := range err {
		if e != nil {
			return Proc{}, false
		}
	}
	p.Name = string(data[open+1 : end])
	p.zombie = f[0][0] == 'Z' || f[0][0] == 'X'
	return p, true
}

// carries reports whether q has p's marker. The environment of other users' processes cannot be read.
func (p *Process) carries(q Proc) bool { return p.spec.RunID != "" && q.carries(p.spec.RunID) }

func (p Proc) carries(id string) bool {
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/environ")
	return err == nil && marked(environ, id)
}

// signal signals exactly this process: not another one that has got its pid meanwhile.
func (p Proc) signal(sig syscall.Signal) error {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if err != nil {
		if err == unix.ENOSYS {
			return syscall.Kill(p.PID, sig)
		}
		return err
	}
	defer unix.Close(fd)
	if now, ok := process(p.PID); !ok || now.Start != p.Start {
		return unix.ESRCH
	}
	return unix.PidfdSendSignal(fd, sig, nil, 0)
}
