package clientfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/message"
)

// swap exchanges the two names.
func (s *swap) swap() error {
	err := unix.Renameat2(s.dir, s.tmp, s.dir, s.name, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return errNoExchange
	}
	return err
}

// lease is a read lease on a file. Nil is none.
type lease struct{ file *os.File }

// takeLease takes a lease on a file, which must have no writer; it ends when the file is closed. It returns nil where there are no leases:
// of a file of another user, or on a file system without them.
func takeLease(file *os.File) (*lease, error) {
	_, err := unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	switch {
	case errors.Is(err, unix.EAGAIN):
		return nil, message.Error("another program is writing it; try again", ErrChanged)
	case err != nil:
		return nil, nil
	}
	return &lease{file}, nil
}

// holds reports whether no writer has come since.
func (l *lease) holds() bool {
	if l == nil {
		return true
	}
	kind, err := unix.FcntlInt(l.file.Fd(), unix.F_GETLEASE, 0)
	return err == nil && kind == unix.F_RDLCK
}

// ownTimeSlice gives up the processor, so that the next few system calls come at the beginning of a time slice, and most likely without
// an interruption.
func ownTimeSlice() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
