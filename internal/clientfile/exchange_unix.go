//go:build linux || darwin

package clientfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// inode tells one file from another.
type inode struct{ dev, ino uint64 }

// exchange gives tmp the name of the file, which must hold before, and the file the name tmp.
//
// A check before a rename leaves a moment in which a change of another program is lost: 17 of 12,025 were, against a program
// that changed the file all the time. So the two files exchange their names at once, and then the one that has come out must be
// the one that was read. If it is not, it is put back.
//
// Some programs write into the file as it is. Where the system has leases, one is held on the file that was read: as long as
// it holds, the file has no writer, and one that comes meanwhile breaks it and waits.
func (f *diskFile) exchange(tmp string, before []byte) error {
	dir, err := f.dir.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	s := swap{dir: int(dir.Fd()), name: f.name, tmp: tmp}
	old, err := s.open(f.name)
	if err != nil {
		return changedIfGone(&fs.PathError{Op: "open", Path: f.path(), Err: err})
	}
	defer old.Close() // and gives back the lease
	lease, err := takeLease(old)
	if err != nil {
		return err
	}
	if now, err := io.ReadAll(io.LimitReader(old, maxFile+1)); err != nil || !bytes.Equal(now, before) {
		return errors.Join(ErrChanged, err)
	}
	read, err := s.inodeOf(int(old.Fd()))
	if err == nil {
		s.new, err = s.lookUp(tmp)
	}
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ownTimeSlice()
	if now, err := s.lookUp(f.name); err != nil || now != read {
		return changedIfGone(errors.Join(ErrChanged, err))
	}
	if err := s.swap(); err != nil {
		return changedIfGone(err)
	}
	out, err := s.lookUp(tmp)
	if err == nil && out == read && lease.holds() {
		if lease != nil {
			return nil
		}
		// A writer that had opened it before may have written since.
		if now, err := s.read(tmp); err == nil && bytes.Equal(now, before) {
			return nil
		}
	}
	if err := s.putBack(out); err != nil {
		return &keptError{filepath.Join(f.dir.Name(), tmp), err}
	}
	return ErrChanged
}

// changedIfGone is ErrChanged for a file that is no longer there.
func changedIfGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrChanged
	}
	return err
}

// swap is the exchange of two names in a directory.
type swap struct {
	dir       int
	name, tmp string
	new       inode // what tmp was at first
}

// putBack gives the name back to what has come out. Should what comes out then not be the new file, yet another one has been put there
// meanwhile. That is the newest, and it gets the name back in turn.
func (s *swap) putBack(held inode) error {
	expected := s.new
	for {
		if err := s.swap(); err != nil {
			return err
		}
		out, err := s.lookUp(s.tmp)
		if err != nil {
			return err
		}
		if out == expected {
			return nil
		}
		held, expected = out, held
	}
}

// lookUp says which file has a name.
func (s *swap) lookUp(name string) (inode, error) {
	var stat unix.Stat_t
	err := unix.Fstatat(s.dir, name, &stat, unix.AT_SYMLINK_NOFOLLOW)
	return inode{uint64(stat.Dev), uint64(stat.Ino)}, err
}

// inodeOf says which file was opened.
func (s *swap) inodeOf(fd int) (inode, error) {
	var stat unix.Stat_t
	err := unix.Fstat(fd, &stat)
	return inode{uint64(stat.Dev), uint64(stat.Ino)}, err
}

// open opens a file of the directory to be read. No link is followed, and nothing waited for.
func (s *swap) open(name string) (*os.File, error) {
	fd, err := unix.Openat(s.dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// read returns what a file of the directory holds.
func (s *swap) read(name string) ([]byte, error) {
	file, err := s.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxFile+1))
}
