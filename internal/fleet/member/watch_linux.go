package member

import (
	"errors"
	"os"
	"sync"
	"syscall"

	"github.com/belay-run/belay/internal/safefile"
)

// changes says that files of directories may have changed.
type changes struct {
	happened chan struct{}
	stop     func()
}

// watch tells of changes in directories: files are replaced, removed or set aside, nothing else happens to them.
func watch(dirs ...string) (*changes, error) { return watchFor(0, dirs...) }

// watchWrites is watch for a directory in which files are also written in their places.
func watchWrites(dir string) (*changes, error) { return watchFor(syscall.IN_CLOSE_WRITE, dir) }

func watchFor(more uint32, dirs ...string) (*changes, error) {
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	events := os.NewFile(uintptr(fd), "inotify")
	for _, dir := range dirs {
		err := safefile.MakeOwnDir(dir)
		if err == nil {
			_, err = syscall.InotifyAddWatch(fd, dir, more|syscall.IN_MOVED_TO|syscall.IN_MOVED_FROM|syscall.IN_DELETE|syscall.IN_ONLYDIR)
		}
		if err != nil {
			events.Close()
			return nil, &os.PathError{Op: "inotify_add_watch", Path: dir, Err: err}
		}
	}
	c := &changes{happened: make(chan struct{}, 1)}
	var reader sync.WaitGroup
	reader.Go(func() {
		buf := make([]byte, 16<<10)
		for {
			_, err := events.Read(buf)
			if errors.Is(err, syscall.EINTR) {
				continue
			}
			if err != nil {
				return
			}
			select {
			case c.happened <- struct{}{}:
			default: // there is one that was not taken yet
			}
		}
	})
	c.stop = func() {
		events.Close()
		reader.Wait()
	}
	return c, nil
}
