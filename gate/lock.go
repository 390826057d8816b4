package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

const (
	// lockPatience is how long an update waits for another. It takes a fraction of a millisecond, so whoever holds the
	// lock for so long has been stopped, unless the file has changed meanwhile: then there are many who want it.
	lockPatience = 2 * time.Second
	// longPatience is for those many.
	longPatience = 10 * time.Second
)

// ErrLocked says that a file could not be changed because others were at it all the time. The change was not made.
var ErrLocked = errors.New("could not be locked")

// fileLock is the right to replace the file of a key.
type fileLock struct {
	file *os.File
	// alone says that nobody else has it. Not every file system has locks; without them two updates at the same time
	// may lose one of the two, but nothing breaks.
	alone bool
}

// lock waits for the lock of a key. The directory is made when it is missing.
func (f *Files) lock(key string) (fileLock, error) {
	path := f.path(key) + ".lock"
	file, err := create(f.Dir, path)
	if err != nil {
		return fileLock{}, err
	}
	try := f.try
	if try == nil {
		try = tryLock
	}
	begun, pause := time.Now(), 50*time.Microsecond
	for since := begun; ; pause = min(2*pause, 8*time.Millisecond) {
		held, err := try(file)
		if held || errors.Is(err, errors.ErrUnsupported) {
			return fileLock{file, held}, nil
		}
		if err != nil {
			file.Close()
			return fileLock{}, fmt.Errorf("%s cannot be locked: %w", path, err)
		}
		switch {
		case time.Since(begun) > longPatience:
			file.Close()
			return fileLock{}, fmt.Errorf("%s: %w within %v: too many want it", path, ErrLocked, longPatience)
		case time.Since(since) > lockPatience && modified(f.path(key)).After(since):
			since = time.Now()
		case time.Since(since) > lockPatience:
			file.Close()
			return fileLock{}, fmt.Errorf("%s: %w within %v: another process has it, which may have been stopped", path, ErrLocked, lockPatience)
		}
		time.Sleep(pause)
	}
}

// modified is when a file was last changed; zero if there is none.
func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func (l fileLock) release() { l.file.Close() }

// replace writes a file as a whole or not at all.
func (l fileLock) replace(path string, c content) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	// The name is the same for all: only who holds the lock writes it, and a killed writer leaves at most this one.
	tmp := path + ".new"
	if !l.alone {
		tmp = fmt.Sprintf("%s.%d.new", path, os.Getpid())
	}
	if err = os.WriteFile(tmp, append(data, '\n'), 0o600); err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		os.Remove(tmp)
	}
	return err
}

// create opens a file to be locked. It is never deleted: two could then have the same lock, on a file each.
func create(dir, path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(dir, 0o700); err == nil {
			file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		}
	}
	return file, err
}
