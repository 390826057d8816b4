package supervise

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// processes reads the system's process table.
func processes() (table, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	t := make(table, 0, len(all))
	for _, k := range all {
		t = append(t, Proc{
			PID: int(k.Proc.P_pid), PPID: int(k.Eproc.Ppid), PGID: int(k.Eproc.Pgid),
			Start:  uint64(k.Proc.P_starttime.Nano()),
			Name:   unix.ByteSliceToString(k.Proc.P_comm[:]),
			zombie: k.Proc.P_stat == 5, // SZOMB
		})
	}
	return t, nil
}

func process(pid int) (Proc, bool) {
	all, err := processes()
	if err != nil {
		return Proc{}, false
	}
	for _, p := range all {
		if p.PID == pid {
			return p, true
		}
	}
	return Proc{}, false
}

// carries is false here: the environment of another process cannot be read without special rights.
func (p *Process) carries(Proc) bool { return false }

func (p Proc) carries(string) bool { return false }

func (p Proc) signal(sig syscall.Signal) error {
	if now, ok := process(p.PID); !ok || now.Start != p.Start {
		return syscall.ESRCH
	}
	return syscall.Kill(p.PID, sig)
}
