package proctable

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
)

// Find looks one process up. The error is [os.ErrProcessDone] if there is none.
func Find(pid int) (Proc, error) {
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

// Walk visits no process: what a killed owner has left has ended with its job.
func Walk(func(Proc)) error { return nil }

func (p Proc) markers() []string { return nil }

// Signal asks a process to stop if it waits for that ([StopRequests]), and ends it otherwise.
func (p Proc) Signal(sig syscall.Signal) error {
	proc, err := os.FindProcess(p.PID) // holds the process: its pid is not given to another one
	if err != nil {
		return err
	}
	defer proc.Release()
	if now, err := Find(p.PID); err != nil || now.Start != p.Start {
		return os.ErrProcessDone
	}
	if sig == syscall.SIGTERM && requestStop(p) {
		return nil
	}
	return proc.Kill()
}
