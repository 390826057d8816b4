//go:build unix

package run

import (
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/stdio"
)

// openAlready is the file that a path names as one that is open: /dev/stdout, and what a shell makes of >(command). To open
// it anew is not the same: a socket cannot be, and what a file holds already would be lost.
func openAlready(std stdio.Streams, path string) (f io.WriteCloser, is bool, err error) {
	fd := -1
	switch path {
	case "/dev/stdout":
		fd = 1
	case "/dev/stderr":
		fd = 2
	}
	for _, dir := range []string{"/dev/fd/", "/proc/self/fd/"} {
		if number, ok := strings.CutPrefix(path, dir); ok {
			if n, err := strconv.ParseUint(number, 10, 16); err == nil {
				fd = int(n)
			}
		}
	}
	switch {
	case fd < 0:
		return nil, false, nil
	case fd == 1, fd == 2:
		stream := std.Out.Raw()
		if fd == 2 {
			stream = std.Err
		}
		file := stdio.FileOf(stream)
		if file == nil {
			return keptOpen{stream}, true, nil
		}
		fd = int(file.Fd())
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err == nil && flags&unix.O_ACCMODE == unix.O_RDONLY {
		err = message.Error("it is open for reading only")
	}
	if err != nil {
		return nil, true, err
	}
	if fd, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3); err != nil {
		return nil, true, err
	}
	return os.NewFile(uintptr(fd), path), true, nil
}

// keptOpen is a stream that is not ours to close.
type keptOpen struct{ io.Writer }

func (keptOpen) Close() error { return nil }

// writable finds out whether a pipe or a device can be written to.
func writable(path string, mode fs.FileMode) error {
	if mode&fs.ModeNamedPipe != 0 {
		return unix.Access(path, unix.W_OK)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}
