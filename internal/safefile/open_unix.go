//go:build unix

package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	rootUID = 0
	onlyDir = unix.O_DIRECTORY
)

// open opens a file and describes it. The open never waits, as it would for the other end of a named pipe, and never makes
// a terminal ours.
func open(path string, flag int, follow bool) (*os.File, fs.FileInfo, error) {
	look := os.Stat
	if flag |= unix.O_NONBLOCK | unix.O_NOCTTY; !follow {
		flag |= unix.O_NOFOLLOW
		look = os.Lstat
	}
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		kind := ErrNotRegular
		if flag&onlyDir != 0 {
			kind = ErrNotDir
		}
		return nil, nil, explain(path, err, kind, look)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// openBelow opens a file that no link leads to on the way from root, and says whose root is.
func openBelow(root, path string) (f *os.File, owner int, err error) {
	names, err := below(root, path)
	if err != nil {
		return nil, 0, err
	}
	dir, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, 0, &fs.PathError{Op: "open", Path: root, Err: err}
	}
	defer func() { unix.Close(dir) }()
	var stat unix.Stat_t
	if err := unix.Fstat(dir, &stat); err != nil {
		return nil, 0, &fs.PathError{Op: "stat", Path: root, Err: err}
	}
	at := root
	for i, name := range names {
		at = filepath.Join(at, name)
		last := i == len(names)-1
		flags, kind := unix.O_RDONLY|unix.O_DIRECTORY, ErrNotDir
		if last {
			flags, kind = unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, ErrNotRegular
		}
		fd, err := ignoringEINTR(func() (int, error) {
			return unix.Openat(dir, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		})
		if err != nil {
			return nil, 0, explain(at, &fs.PathError{Op: "open", Path: at, Err: err}, kind, os.Lstat)
		}
		if last {
			return os.NewFile(uintptr(fd), path), int(stat.Uid), nil
		}
		unix.Close(dir)
		dir = fd
	}
	return nil, 0, &Error{path, "is the repository itself", ErrNotRegular}
}

func ignoringEINTR(open func() (int, error)) (int, error) {
	for {
		if fd, err := open(); !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// ownedBy refuses a file that belongs to none of these users.
func ownedBy(path string, info fs.FileInfo, uids ...int) error {
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok || slices.Contains(uids, int(sys.Uid)) {
		return nil
	}
	return &Error{path, fmt.Sprintf("belongs to another user (uid %d)", sys.Uid), ErrOwner}
}

// ofThisHome refuses a file that belongs to none of these users, as ownedBy does, but for one exception. Root may work in the
// home of another user, by sudo or with a home that is mounted into a container: what belongs to the owner of a directory
// that only that user can write to is as good as root's own.
func ofThisHome(path string, info fs.FileInfo, uids ...int) error {
	err := ownedBy(path, info, uids...)
	if err == nil || os.Geteuid() != rootUID {
		return err
	}
	dir, serr := os.Stat(filepath.Dir(path))
	if serr == nil && dir.Mode().Perm()&0o022 == 0 && dir.Sys().(*syscall.Stat_t).Uid == info.Sys().(*syscall.Stat_t).Uid {
		return nil
	}
	return err
}

// sameOwner refuses a file that does not belong to the owner of another.
func sameOwner(path string, info, other fs.FileInfo) error {
	sys, ok := other.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return ownedBy(path, info, int(sys.Uid))
}

// oneName refuses a file that has another name, which may be anywhere: what is written to it would be written there too. A
// file that has just been replaced has none.
func oneName(path string, info fs.FileInfo) error {
	if sys, ok := info.Sys().(*syscall.Stat_t); ok && sys.Nlink > 1 {
		return &Error{path, fmt.Sprintf("has %d names (hard links)", sys.Nlink), ErrHardLink}
	}
	return nil
}

// unshared refuses a file that users other than its owner can read or change. Its group may read it where its owner may share it, or if it is root's.
func unshared(path string, info fs.FileInfo, group bool) error {
	shared := fs.FileMode(0o077)
	if sys, ok := info.Sys().(*syscall.Stat_t); group || ok && sys.Uid == rootUID && os.Geteuid() != rootUID {
		shared = 0o037
	}
	if info.Mode().Perm()&shared == 0 {
		return nil
	}
	return &Error{path, fmt.Sprintf("can be read or changed by other users (mode %04o); make it yours alone with: chmod 600 %s", info.Mode().Perm(), path), ErrShared}
}
