package mcp

import (
	"os"

	"golang.org/x/sys/unix"
)

// widenPipe makes a pipe hold more, so that a large message passes with fewer switches between the processes. What is no pipe,
// or may not be changed, stays as it is.
func widenPipe(stream any) {
	file, ok := stream.(*os.File)
	if !ok || file == nil {
		return
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return
	}
	conn.Control(func(fd uintptr) {
		const size = 256 << 10
		if now, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0); err == nil && now < size {
			unix.FcntlInt(fd, unix.F_SETPIPE_SZ, size)
		}
	})
}
