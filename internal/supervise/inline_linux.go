package supervise

import (
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Streams whose writers only keep what they are given are read by the thread that waits for the command: a goroutine for each, and the switches between them, cost
// a fifth of what it takes to start a short command. What is left to read after its end, because another process holds a pipe open, is left to a pump.

// inlineBuffers are what it is read into.
var inlineBuffers = sync.Pool{New: func() any { return new(make([]byte, 32<<10)) }}

// openInline returns a pipe whose read end is for [Process.readInline].
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

// readInline reads the streams until the command has ended, or all of them have.
func (p *Process) readInline() {
	pooled := inlineBuffers.Get().(*[]byte)
	defer inlineBuffers.Put(pooled)
	for {
		fds := append(make([]unix.PollFd, 0, 3), unix.PollFd{Fd: int32(p.pidfd), Events: unix.POLLIN})
		for _, u := range p.streams.pumps {
			if u.inline {
				fds = append(fds, unix.PollFd{Fd: int32(u.fd), Events: unix.POLLIN})
			}
		}
		if len(fds) == 1 {
			return
		}
		if _, err := unix.Poll(fds, -1); errors.Is(err, unix.EINTR) {
			continue
		} else if err != nil { // the kernel has no memory for it
			p.startPumps()
			return
		}
		for _, u := range p.streams.pumps {
			for _, f := range fds[1:] {
				if u.inline && u.fd == int(f.Fd) && f.Revents != 0 {
					u.readInline(*pooled)
				}
			}
		}
		if fds[0].Revents != 0 {
			return
		}
	}
}

// readInline takes what there is to read, and closes the pipe at its end, or if its writer fails.
func (u *pump) readInline(buf []byte) (n int) {
	n, err := unix.Read(u.fd, buf)
	if errors.Is(err, unix.EINTR) {
		return 0
	}
	if n <= 0 || u.pass(buf[:n]) != nil {
		u.close()
	}
	return n
}

// drainInline takes what a command that has ended has written. If another process holds the pipe open, the rest is a pump's.
func (p *Process) drainInline() {
	pooled := inlineBuffers.Get().(*[]byte)
	defer inlineBuffers.Put(pooled)
	for _, u := range p.streams.pumps {
		if !u.inline {
			continue
		}
		unread, _ := unix.IoctlGetInt(u.fd, fionread)
		for unread > 0 && u.inline {
			unread -= u.readInline(*pooled)
		}
		fds := []unix.PollFd{{Fd: int32(u.fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, 0); u.inline && err == nil && fds[0].Revents == unix.POLLHUP {
			u.close()
		}
	}
	p.startPumps()
}
