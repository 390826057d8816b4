// Package executable finds the program that a command names, and says before it is started what the system would refuse.
//
// [Look] finds it as a shell would; its error says in words what is wrong. [CheckArgs] says which arguments are too long. On Windows a command is often a batch
// file, as those that npm installs are: [Program] says what is really started for it, so that its arguments arrive as they are.
package executable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Look finds the executable for name, as a shell would: on PATH, or as a path, relative to dir if that is set.
// The error is an [os.ErrNotExist] if there is none, an [os.ErrPermission] if what is there may not be executed.
func Look(name, dir string) (string, error) {
	if name == "" {
		return "", &lookFailure{"no command given", fs.ErrNotExist}
	}
	if strings.ContainsRune(name, os.PathSeparator) || strings.ContainsRune(name, '/') {
		path := name
		if dir != "" && !filepath.IsAbs(name) {
			path = filepath.Join(dir, name)
		}
		found, err := exec.LookPath(path)
		if err != nil && !errors.Is(err, exec.ErrDot) {
			return "", lookError(name, err)
		}
		if dir != "" {
			// The child changes its directory before the path is looked at.
			return filepath.Abs(found)
		}
		return found, nil
	}
	found, err := exec.LookPath(name)
	if _, set := os.LookupEnv("PATH"); err != nil && !set {
		// Without PATH the C library looks where every system has its commands.
		for _, dir := range []string{"/bin", "/usr/bin"} {
			if f, ferr := exec.LookPath(filepath.Join(dir, name)); ferr == nil {
				return f, nil
			}
		}
	}
	if errors.Is(err, exec.ErrDot) && runtime.GOOS == "windows" {
		// The system prefers what is in the current directory, which may be a repository of others. A shell as of today does not.
		if found, err = lookOnPath(name); err != nil {
			return "", &lookFailure{name + " is in this directory and not on the PATH; to run it: ." + string(filepath.Separator) + name, fs.ErrNotExist}
		}
	}
	if err != nil && !errors.Is(err, exec.ErrDot) {
		if !errors.Is(err, fs.ErrPermission) && onPath(name) {
			err = fs.ErrPermission
		}
		return "", lookError(name, err)
	}
	if dir != "" && !filepath.IsAbs(found) {
		return filepath.Abs(found)
	}
	return found, nil
}

// lookOnPath finds the executable for name in a directory of PATH that is named in full.
func lookOnPath(name string) (string, error) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return "", exec.ErrNotFound
}

// onPath reports whether a file of that name is on PATH, executable or not.
func onPath(name string) bool {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && !info.IsDir() {
			return true
		}
	}
	return false
}

// lookFailure says in words what [Look] could not do; kind is for errors.Is.
type lookFailure struct {
	text string
	kind error
}

func (e *lookFailure) Error() string { return e.text }
func (e *lookFailure) Unwrap() error { return e.kind }

func lookError(name string, err error) error {
	if e, ok := errors.AsType[*exec.Error](err); ok {
		err = e.Err
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return &lookFailure{name + " is not executable", fs.ErrPermission}
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return notFound(name)
	}
	return &lookFailure{fmt.Sprintf("%s cannot be executed: %v", name, err), fs.ErrPermission}
}
