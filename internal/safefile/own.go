package safefile

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// OpenOwn opens a file of Belay's own. The flags are those of [os.OpenFile]; a file that is created is for this user alone.
// With O_TRUNC the file is truncated after it was checked.
func OpenOwn(path string, flag int) (*os.File, error) { return openOwn(path, flag, own) }

func openOwn(path string, flag int, check func(string, fs.FileInfo) error) (*os.File, error) {
	f, info, err := open(path, flag&^os.O_TRUNC, false)
	if err == nil {
		err = check(path, info)
	}
	if err == nil && flag&os.O_TRUNC != 0 && info.Size() > 0 {
		err = f.Truncate(0)
	}
	return orClosed(f, err)
}

// orClosed is a file that was opened, unless err says that it was not or may not be used.
func orClosed(f *os.File, err error) (*os.File, error) {
	if err != nil {
		f.Close() // which does nothing to none
		return nil, err
	}
	return f, nil
}

// own refuses what is not a regular file of this user's with one name.
func own(path string, info fs.FileInfo) error {
	if err := regular(path, info); err != nil {
		return err
	}
	if err := ofThisHome(path, info, os.Geteuid()); err != nil {
		return err
	}
	return oneName(path, info)
}

// ReadOwn reads a file of Belay's own, of at most limit bytes.
func ReadOwn(path string, limit int64) ([]byte, error) {
	f, err := OpenOwn(path, os.O_RDONLY)
	return readAll(f, err, path, limit)
}

// CreateOwn creates a file of Belay's own, for this user alone and to be written. Whatever is at the path already is an
// [fs.ErrExist].
func CreateOwn(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // which follows no link, and there is nothing to check
}

// WriteOwn writes a file of Belay's own, and creates it if it is missing. A reader may see half of it.
func WriteOwn(path string, data []byte) error {
	f, err := OpenOwn(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// CheckOwn is the check of OpenOwn for a file that another library opens.
func CheckOwn(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return own(path, info)
}

// OpenOwnElsewhere is OpenOwn for a file that is not in the state directory. It may also belong to the owner of the directory
// that it is in: root may work in a container, on the files of a user outside.
func OpenOwnElsewhere(path string, flag int) (*os.File, error) {
	return openOwn(path, flag, func(path string, info fs.FileInfo) error {
		err := own(path, info)
		if !errors.Is(err, ErrOwner) {
			return err
		}
		dir, derr := os.Stat(filepath.Dir(path))
		if derr != nil {
			return err
		}
		return cmp.Or(sameOwner(path, info, dir), oneName(path, info))
	})
}

// OpenOwnDir opens a directory of Belay's own, to read the names in it.
func OpenOwnDir(path string) (*os.File, error) {
	f, info, err := open(path, os.O_RDONLY|onlyDir, false)
	if err == nil {
		err = ownDir(path, info)
	}
	return orClosed(f, err)
}

// ReadOwnDir reads the names in a directory of Belay's own.
func ReadOwnDir(path string) ([]string, error) {
	f, err := OpenOwnDir(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// MakeOwnDir makes a directory of Belay's own, for this user alone, with those above it. If it is there already, it is only
// checked.
func MakeOwnDir(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(path, 0o700); err == nil {
			info, err = os.Lstat(path)
		}
	}
	if err != nil {
		return err
	}
	return ownDir(path, info)
}

// CheckOwnDir is the check of OpenOwnDir for a directory that is not opened.
func CheckOwnDir(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return ownDir(path, info)
}

func ownDir(path string, info fs.FileInfo) error {
	if !info.IsDir() {
		return wrongType(path, info.Mode(), ErrNotDir)
	}
	return ofThisHome(path, info, os.Geteuid())
}

// Size is how many bytes the files in a directory have, without what cannot be seen.
func Size(dir string) (sum int64) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // what cannot be seen is not counted
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}
