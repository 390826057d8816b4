package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/flock"
	"github.com/belay-run/belay/internal/redact"
)

const (
	// lockTimeout is how long an update waits for another. An update takes a fraction of a millisecond: a process that holds
	// the lock for so long has been stopped, unless the file has changed meanwhile. Then many processes want the lock.
	lockTimeout = 2 * time.Second
	// crowdTimeout is how long an update waits while others make theirs.
	crowdTimeout = 10 * time.Second
)

// ErrLocked says that a file could not be changed because others were changing it all the time. The change was not made.
var ErrLocked = errors.New("could not be locked")

// fileLock is the right to replace the file of a key.
type fileLock struct {
	file *os.File
	// alone says that no other process has it. Not every file system has locks; without them two updates at the same time
	// may lose one of the two, but nothing breaks.
	alone bool
}

// lock waits for the lock of a key. The directory is made when it is missing.
func (f *Files) lock(key string) (fileLock, error) {
	path := f.path(key) + ".lock"
	file, err := flock.OpenAll(path)
	if err != nil {
		return fileLock{}, err
	}
	lastChange := time.Now()
	giveUp := func(waited time.Duration) error {
		switch {
		case waited > crowdTimeout:
			return fmt.Errorf("%s: %w within %v: too many want it", path, ErrLocked, crowdTimeout)
		case time.Since(lastChange) <= lockTimeout:
			return nil
		case modified(f.path(key)).After(lastChange):
			lastChange = time.Now()
			return nil
		}
		return fmt.Errorf("%s: %w within %v: another process has it, which may have been stopped", path, ErrLocked, lockTimeout)
	}
	err = flock.Wait(func() (bool, error) { return f.tryLock(file) }, giveUp)
	switch {
	case err == nil:
		return fileLock{file, true}, nil
	case errors.Is(err, errors.ErrUnsupported):
		return fileLock{file, false}, nil
	}
	file.Close()
	if !errors.Is(err, ErrLocked) {
		err = fmt.Errorf("%s cannot be locked: %w", path, err)
	}
	return fileLock{}, err
}

func (f *Files) tryLock(file *os.File) (bool, error) {
	if f.try != nil {
		return f.try(file)
	}
	return flock.Try(file, flock.Exclusive)
}

// modified is when a file was last changed; zero if there is none.
func modified(path string) time.Time {
	info, err := os.Lstat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func (l fileLock) release() { l.file.Close() }

// replace writes a file as a whole or not at all.
func (l fileLock) replace(path string, c content) error {
	c.State.Hold.Reason, c.State.Breaker.Reason = redact.Text(c.State.Hold.Reason), redact.Text(c.State.Breaker.Reason)
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	// The name is the same for all: only the holder of the lock writes it, and a killed writer leaves at most this one.
	tmp := path + ".new"
	if !l.alone {
		tmp = fmt.Sprintf("%s.%d.new", path, os.Getpid())
	}
	return atomicfile.WriteVia(tmp, path, append(data, '\n'))
}
