package safefile

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
)

func regular(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return wrongType(path, info.Mode(), ErrNotRegular)
}

// wrongType says what is at a path instead of a regular file or a directory.
func wrongType(path string, mode fs.FileMode, kind error) error {
	reason := "is " + kind.Error()
	switch {
	case mode&fs.ModeSymlink != 0:
		kind, reason = ErrLink, "is a symbolic link"
	case mode.IsDir():
		reason = "is a directory"
	case mode&fs.ModeNamedPipe != 0:
		reason = "is a named pipe"
	case mode&fs.ModeSocket != 0:
		reason = "is a socket"
	case mode&fs.ModeDevice != 0:
		reason = "is a device"
	}
	return &Error{path, reason, kind}
}

// explain replaces the error of an open by the reason, if something that can never be opened is at the path.
func explain(path string, err error, kind error, look func(string) (fs.FileInfo, error)) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
		return err
	}
	info, lerr := look(path)
	switch {
	case lerr != nil:
	case kind == ErrNotDir && !info.IsDir(), kind == ErrNotRegular && !info.Mode().IsRegular():
		return wrongType(path, info.Mode(), kind)
	}
	return err
}

// below takes the path from root apart.
func below(root, path string) ([]string, error) {
	from, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	to, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	rest, err := filepath.Rel(from, to)
	if err != nil || !filepath.IsLocal(rest) {
		return nil, &Error{path, "is not below " + root, ErrOutside}
	}
	return strings.Split(rest, string(filepath.Separator)), nil
}
