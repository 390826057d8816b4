package stream

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

var peekNamedPipe = windows.NewLazySystemDLL("kernel32.dll").NewProc("PeekNamedPipe")

func openPipe() (r, w *os.File, err error) { return os.Pipe() }

// unread is how many bytes are in a pipe. It must not be asked for while another goroutine reads from it: the system would let it wait.
func unread(f *os.File) (n int) {
	var available uint32
	if done, _, _ := peekNamedPipe.Call(f.Fd(), 0, 0, 0, uintptr(unsafe.Pointer(&available)), 0); done != 0 {
		n = int(available)
	}
	return n
}

// wakeReader ends a read that waits for something to come. The pipes of this system have no deadlines.
func wakeReader(f *os.File) {
	if conn, err := f.SyscallConn(); err == nil {
		conn.Control(func(h uintptr) { windows.CancelIoEx(windows.Handle(h), nil) })
	}
}

// wasWoken reports whether wakeReader has ended a read.
func wasWoken(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, windows.ERROR_OPERATION_ABORTED)
}
