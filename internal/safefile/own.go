package safefile

import (
	"errors"
	"io/fs"
	"os"
)

// OpenOwn opens a file of Belay's own. The flags are those of [os.OpenFile]; a file that is created is for this user alone.
// With O_TRUNC the file is truncated after it was checked.
func OpenOwn(path string, flag int) (*os.File, error) {
	f, info, err := open(path, flag&^os.O_TRUNC, false)
	if err != nil {
		return nil, err
	}
	err = regular(path, info)
	if err == nil {
		err = ownedBy(path, info, os.Geteuid())
	}
	if err == nil {
		err = oneName(path, info)
	}
	if err == nil && flag&os.O_TRUNC != 0 && info.Size() > 0 {
		err = f.Truncate(0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ReadOwn reads a file of Belay's own, of at most limit bytes.
func ReadOwn(path string, limit int64) ([]byte, error) {
	f, err := OpenOwn(path, os.O_RDONLY)
	return readAll(f, err, path, limit)
}

// CreateTemp creates a file of Belay's own with a name that no other has, as [os.CreateTemp] does: for this user alone, and
// exclusively, so that nothing that is there is opened.
func CreateTemp(dir, pattern string) (*os.File, error) { return os.CreateTemp(dir, pattern) }

// OpenOwnDir opens a directory of Belay's own, to read the names in it.
func OpenOwnDir(path string) (*os.File, error) {
	f, info, err := open(path, os.O_RDONLY|onlyDir, false)
	if err != nil {
		return nil, err
	}
	if err := ownDir(path, info); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
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

func ownDir(path string, info fs.FileInfo) error {
	if !info.IsDir() {
		return wrongType(path, info.Mode(), ErrNotDir)
	}
	return ownedBy(path, info, os.Geteuid())
}
