package proctable

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Walk visits every process of the system.
func Walk(visit func(Proc)) error {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return err
	}
	for _, k := range all {
		visit(Proc{
			PID: int(k.Proc.P_pid), PPID: int(k.Eproc.Ppid), PGID: int(k.Eproc.Pgid),
			Start:  uint64(k.Proc.P_starttime.Nano()),
			Name:   unix.ByteSliceToString(k.Proc.P_comm[:]),
			zombie: k.Proc.P_stat == 5, // SZOMB
		})
	}
	return nil
}

// WalkChildren visits none: it is for owners, which there are none of here.
func WalkChildren(func(Proc)) error { return nil }

// Find looks one process up. The error is [os.ErrProcessDone] if there is none.
func Find(pid int) (found Proc, err error) {
	err = os.ErrProcessDone
	if werr := Walk(func(p Proc) {
		if p.PID == pid {
			found, err = p, nil
		}
	}); werr != nil {
		err = werr
	}
	return found, err
}

// Pending is not known here.
func Pending(int, syscall.Signal) bool { return false }

// StartNow is the least possible Proc.Start here: the clock it is taken from may be set.
func StartNow() uint64 { return 0 }

// markers are not known here: the environment of another process cannot be read without special rights.
func (p Proc) markers() []string { return nil }

// Signal signals exactly this process: not another one that has got its pid meanwhile.
func (p Proc) Signal(sig syscall.Signal) error {
	if now, err := Find(p.PID); err != nil || now.Start != p.Start {
		return syscall.ESRCH
	}
	return syscall.Kill(p.PID, sig)
}
