package stream

import (
	"os"

	"golang.org/x/sys/unix"
)

const fionread = unix.TIOCINQ

// openPipe returns a pipe whose read end we can wait on with a deadline, and whose write end is an ordinary
// blocking one for the child.
func openPipe() (r, w *os.File, err error) {
	var fd [2]int
	if err := unix.Pipe2(fd[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe2", err)
	}
	unix.SetNonblock(fd[0], true)
	// Fewer and larger reads; refused to users with many pipes, and that is fine.
	unix.FcntlInt(uintptr(fd[0]), unix.F_SETPIPE_SZ, pumpBuffer)
	return os.NewFile(uintptr(fd[0]), "|0"), os.NewFile(uintptr(fd[1]), "|1"), nil
}

// openInline returns a pipe whose read end is for [Set.ReadUntilEnd].
func openInline() (fd int, w *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return -1, nil, os.NewSyscallError("pipe2", err)
	}
	return fds[0], os.NewFile(uintptr(fds[1]), "|1"), nil
}

// inlineFile makes of such a read end one that a pump can wait on with a deadline.
func inlineFile(fd int) *os.File {
	unix.SetNonblock(fd, true)
	return os.NewFile(uintptr(fd), "|0")
}

func closeInline(fd int) { unix.Close(fd) }
