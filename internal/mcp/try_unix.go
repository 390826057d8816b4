//go:build unix

package mcp

import (
	"errors"
	"os"
	"syscall"
)

// tryWrite returns a function that writes to a pipe as much as it takes without waiting.
func tryWrite(file *os.File) func([]byte) (int, error) {
	conn, err := file.SyscallConn()
	if err != nil {
		return nil
	}
	return func(b []byte) (n int, err error) {
		cerr := conn.Write(func(fd uintptr) bool {
			for n < len(b) {
				var m int
				m, err = syscall.Write(int(fd), b[n:])
				switch {
				case errors.Is(err, syscall.EINTR):
					continue
				case errors.Is(err, syscall.EAGAIN):
					err = nil
					return true
				case err != nil:
					return true
				}
				n += m
			}
			return true
		})
		return n, errors.Join(err, cerr)
	}
}
