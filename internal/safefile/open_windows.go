package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/windows"
)

const (
	rootUID = 0
	onlyDir = 0
)

// openTries is how often an open is tried while the file is being replaced or removed, or another program examines it.
const openTries = 8

// open opens a file and describes it.
func open(path string, flag int, follow bool) (f *os.File, info fs.FileInfo, err error) {
	for i := range openTries {
		f, info, err = openOnce(path, flag, follow)
		if !errors.Is(err, errChanged) && !errors.Is(err, windows.ERROR_SHARING_VIOLATION) && !errors.Is(err, windows.ERROR_ACCESS_DENIED) {
			break
		}
		time.Sleep(time.Millisecond << min(i, 4))
	}
	return f, info, err
}

func openOnce(path string, flag int, follow bool) (*os.File, fs.FileInfo, error) {
	look := os.Stat
	if !follow {
		look = os.Lstat
	}
	seen, err := look(path)
	if err == nil && !seen.Mode().IsRegular() && !seen.IsDir() {
		return nil, nil, wrongType(path, seen.Mode(), ErrNotRegular)
	}
	f, err := openShared(path, flag)
	if err != nil {
		return nil, nil, explain(path, err, ErrNotRegular, look)
	}
	info, err := f.Stat()
	if err == nil && seen != nil && !os.SameFile(seen, info) {
		err = &fs.PathError{Op: "open", Path: path, Err: errChanged}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// openShared is [os.OpenFile] for a file that others may rename, replace and remove meanwhile, as they may on other systems. It knows
// the flags that are used here.
func openShared(path string, flag int) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	access, attributes := uint32(windows.GENERIC_READ), uint32(windows.FILE_ATTRIBUTE_NORMAL)
	switch flag & (os.O_WRONLY | os.O_RDWR) {
	case os.O_WRONLY:
		access = windows.GENERIC_WRITE
	case os.O_RDWR:
		access |= windows.GENERIC_WRITE
	default:
		attributes |= windows.FILE_FLAG_BACKUP_SEMANTICS // or it could not be a directory
	}
	if flag&os.O_APPEND != 0 { // every write goes to the end only if that is all that is allowed
		access = access&^windows.GENERIC_WRITE | windows.FILE_APPEND_DATA | windows.FILE_WRITE_ATTRIBUTES | windows.FILE_WRITE_EA |
			windows.STANDARD_RIGHTS_WRITE | windows.SYNCHRONIZE
	}
	creation := uint32(windows.OPEN_EXISTING)
	switch {
	case flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		creation = windows.CREATE_NEW
	case flag&os.O_CREATE != 0:
		creation = windows.OPEN_ALWAYS
	}
	h, err := windows.CreateFile(name, access, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil, creation, attributes, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

var errChanged = errors.New("it was replaced while it was opened")

// openBelow opens a file that no link leads to on the way from root.
func openBelow(root, path string) (f *os.File, owner int, err error) {
	names, err := below(root, path)
	if err != nil {
		return nil, 0, err
	}
	at := root
	for _, name := range names[:len(names)-1] {
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		if err != nil {
			return nil, 0, err
		}
		if !info.IsDir() {
			return nil, 0, wrongType(at, info.Mode(), ErrNotDir)
		}
	}
	f, _, err = open(path, os.O_RDONLY, false)
	return f, 0, err
}

// ownedBy leaves the question of rights to the system.
func ownedBy(string, fs.FileInfo, ...int) error { return nil }

func ofThisHome(string, fs.FileInfo, ...int) error { return nil }

func oneName(string, fs.FileInfo) error { return nil }

func sameOwner(string, fs.FileInfo, fs.FileInfo) error { return nil }

// unshared refuses nothing: who can read a file is not in its mode.
func unshared(string, fs.FileInfo, bool) error { return nil }
