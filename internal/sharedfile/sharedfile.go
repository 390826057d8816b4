// Package sharedfile keeps a small file that many processes read and change.
//
// A file is read without a lock and replaced by renaming, so that a reader sees the old content or the new one, and a
// process that is killed at any point leaves one of them. A writer holds a lock on another file, which is never deleted: a
// lock on the file that is itself replaced loses updates.
package sharedfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/flock"
	"github.com/belay-run/belay/internal/safefile"
)

const (
	// lockTimeout is how long a writer waits for another. An update takes a fraction of a millisecond: a process that holds
	// the lock for so long has been stopped, unless the file has changed meanwhile. Then many processes want the lock.
	lockTimeout = 2 * time.Second
	// crowdTimeout is how long a writer waits while others write.
	crowdTimeout = 10 * time.Second
)

var (
	// ErrLocked says that a file could not be changed because others were changing it all the time. The change was not made.
	ErrLocked = errors.New("could not be locked")
	// ErrDamaged says that a file cannot be used: it is broken, too large, another user's or no file at all.
	ErrDamaged = errors.New("damaged file")
)

// File is a file that processes share.
type File struct {
	Path string
	// LockPath is the file that is locked for a change; empty means that beside it with the suffix .lock. Files that come
	// and go share one.
	LockPath string
	// Damaged takes the place of [ErrDamaged] in errors; nil means that one.
	Damaged error
	// Try takes the place of [flock.Try] in tests of a file system without locks.
	Try func(*os.File) (bool, error)
}

// Open opens the file for reading. The error is [ErrDamaged] for what is not a file of Belay's own, see package safefile.
func (f File) Open() (*os.File, fs.FileInfo, error) {
	file, err := safefile.OpenOwn(f.Path, os.O_RDONLY)
	if refused, ok := errors.AsType[*safefile.Error](err); ok {
		err = f.damaged(errors.New("it " + refused.Reason))
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// Read reads the whole file, which has at most so many bytes.
func (f File) Read(limit int64) ([]byte, fs.FileInfo, error) {
	file, info, err := f.Open()
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, nil, err
	}
	if int64(len(data)) > limit {
		return nil, nil, f.damaged(errors.New("it is too large"))
	}
	return data, info, nil
}

// damaged says that the file cannot be used, and why.
func (f File) damaged(why error) error {
	if f.Damaged != nil {
		return fmt.Errorf("%w: %w", f.Damaged, why)
	}
	return fmt.Errorf("%w: %w", ErrDamaged, why)
}

// Lock is the right to replace a file.
type Lock struct {
	path string
	file *os.File
	// alone says that no other process has it. Not every file system has locks; without them two updates at the same time
	// may lose one of the two, but nothing breaks.
	alone bool
}

// Lock waits for the lock of the file. The directory is made when it is missing.
func (f File) Lock() (*Lock, error) {
	path := f.LockPath
	if path == "" {
		path = f.Path + ".lock"
	}
	file, err := flock.OpenAll(path)
	if err != nil {
		return nil, err
	}
	lastChange := time.Now()
	giveUp := func(waited time.Duration) error {
		switch {
		case waited > crowdTimeout:
			return fmt.Errorf("%s: %w within %v: too many want it", path, ErrLocked, crowdTimeout)
		case time.Since(lastChange) <= lockTimeout:
			return nil
		case modified(f.Path).After(lastChange):
			lastChange = time.Now()
			return nil
		}
		return fmt.Errorf("%s: %w within %v: another process has it, which may have been stopped", path, ErrLocked, lockTimeout)
	}
	try := f.Try
	if try == nil {
		try = func(file *os.File) (bool, error) { return flock.Try(file, flock.Exclusive) }
	}
	err = flock.Wait(func() (bool, error) { return try(file) }, giveUp)
	switch {
	case err == nil:
		return &Lock{f.Path, file, true}, nil
	case errors.Is(err, errors.ErrUnsupported):
		return &Lock{f.Path, file, false}, nil
	}
	file.Close()
	if !errors.Is(err, ErrLocked) {
		err = fmt.Errorf("%s cannot be locked: %w", path, err)
	}
	return nil, err
}

// modified is when a file was last changed; zero if there is none.
func modified(path string) time.Time {
	info, err := os.Lstat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// Release gives the lock to others.
func (l *Lock) Release() { l.file.Close() }

// Replace writes the file as a whole or not at all.
func (l *Lock) Replace(data []byte) error {
	// The name is the same for all: only the holder of the lock writes it, and a killed writer leaves at most this one.
	tmp := l.path + ".new"
	if !l.alone {
		tmp = fmt.Sprintf("%s.%d.new", l.path, os.Getpid())
	}
	return atomicfile.WriteVia(tmp, l.path, data)
}

// DamagedSuffix is what the name of a file ends in that was set aside.
const DamagedSuffix = ".damaged"

// SetAside renames a damaged file, so that it can be examined. Only the holder of the lock may: without it, another process
// may have replaced the file by a good one after it was read. The error is what is wrong with the file, with where it is now.
func (l *Lock) SetAside(err error) error {
	aside := l.path + DamagedSuffix
	if merr := os.Rename(l.path, aside); merr != nil && !errors.Is(merr, fs.ErrNotExist) {
		return fmt.Errorf("%w; remove %s: it could not be moved away: %w", err, l.path, merr)
	}
	return fmt.Errorf("%w; it is now %s", err, aside)
}
