package gate

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// Watch returns a channel that gets a value when the state of a key may have changed, so that a waiting caller need not
// poll: a process that only sleeps costs nothing. stop ends it. The error says that the system cannot watch, or has no
// watch left (a user usually has 128 of the kernel's); then the caller has to poll.
func (f *Files) Watch(key string) (changed <-chan struct{}, stop func(), err error) {
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return nil, nil, os.NewSyscallError("inotify_init1", err)
	}
	events := os.NewFile(uintptr(fd), "inotify")
	// A file is replaced, removed or set aside, nothing else happens to it.
	if _, err := syscall.InotifyAddWatch(fd, f.Dir, syscall.IN_MOVED_TO|syscall.IN_MOVED_FROM|syscall.IN_DELETE|syscall.IN_ONLYDIR); err != nil {
		events.Close()
		return nil, nil, os.NewSyscallError("inotify_add_watch", err)
	}
	c := make(chan struct{}, 1)
	var reader sync.WaitGroup
	reader.Go(func() { report(events, filepath.Base(f.path(key)), c) })
	return c, func() {
		events.Close()
		reader.Wait()
	}, nil
}

// report sends a value for whatever happens to a file of that name, until events is closed.
func report(events *os.File, name string, c chan<- struct{}) {
	buf := make([]byte, 4096)
	for {
		n, err := events.Read(buf)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return
		}
		if concerns(buf[:n], name) {
			select {
			case c <- struct{}{}:
			default: // the channel has a value that was not taken yet
			}
		}
	}
}

// concerns reports whether one of the events is about the file, or about all: some were lost, or the directory is gone.
func concerns(events []byte, name string) bool {
	for len(events) >= syscall.SizeofInotifyEvent {
		mask := binary.NativeEndian.Uint32(events[4:])
		size := min(int(binary.NativeEndian.Uint32(events[12:])), len(events)-syscall.SizeofInotifyEvent)
		about := strings.TrimRight(string(events[syscall.SizeofInotifyEvent:syscall.SizeofInotifyEvent+size]), "\x00")
		if about == name || mask&(syscall.IN_Q_OVERFLOW|syscall.IN_IGNORED) != 0 {
			return true
		}
		events = events[syscall.SizeofInotifyEvent+size:]
	}
	return false
}
