package stream

import (
	"errors"
	"sync"

	"golang.org/x/sys/unix"
)

// Streams whose writers only keep what they are given are read by the thread that waits for the command: a goroutine for each, and the switches between them, cost
// a fifth of what it takes to start a short command. What is left to read after its end, because another process holds a pipe open, is left to a pump.

// inlineBuffers are what it is read into.
var inlineBuffers = sync.Pool{New: func() any { return new(make([]byte, 32<<10)) }}

// readUntilEnd reads pipes until the command has ended, which its pidfd tells, or all of them have. It reports false if the kernel has no memory for it.
func readUntilEnd(pidfd int, pumps []*pump) bool {
	pooled := inlineBuffers.Get().(*[]byte)
	defer inlineBuffers.Put(pooled)
	for {
		fds := append(make([]unix.PollFd, 0, 3), unix.PollFd{Fd: int32(pidfd), Events: unix.POLLIN})
		for _, u := range pumps {
			if u.inline {
				fds = append(fds, unix.PollFd{Fd: int32(u.fd), Events: unix.POLLIN})
			}
		}
		if len(fds) == 1 {
			return true
		}
		if _, err := unix.Poll(fds, -1); errors.Is(err, unix.EINTR) {
			continue
		} else if err != nil {
			return false
		}
		for _, u := range pumps {
			for _, f := range fds[1:] {
				if u.inline && u.fd == int(f.Fd) && f.Revents != 0 {
					u.readInline(*pooled)
				}
			}
		}
		if fds[0].Revents != 0 {
			return true
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

// drainInline takes what a command that has ended has written. If another process holds the pipe open, the rest is left to a goroutine.
func (u *pump) drainInline() {
	if !u.inline {
		return
	}
	pooled := inlineBuffers.Get().(*[]byte)
	defer inlineBuffers.Put(pooled)
	unread, _ := unix.IoctlGetInt(u.fd, fionread)
	for unread > 0 && u.inline {
		unread -= u.readInline(*pooled)
	}
	fds := []unix.PollFd{{Fd: int32(u.fd), Events: unix.POLLIN}}
	if _, err := unix.Poll(fds, 0); u.inline && err == nil && fds[0].Revents == unix.POLLHUP {
		u.close()
	}
}
