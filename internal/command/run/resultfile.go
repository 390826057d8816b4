package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/stdio"
)

// resultFile is where --result-file goes. Readers see no file, or a whole one, where that can be: a pipe, a device and what
// is open already are written to as they are.
type resultFile struct {
	path string
	open io.WriteCloser // it is open already, as /dev/stdout is; else nil
}

// openResultFile finds out before anything is started whether the file can be written. Only a named pipe has to be left for
// later: opening it waits for a reader.
func openResultFile(std stdio.Streams, path string) (*resultFile, error) {
	if path == "" {
		return nil, nil
	}
	wrong := func(err error) (*resultFile, error) {
		var cause *fs.PathError
		if errors.As(err, &cause) {
			err = cause.Err // its path may be one that the user has not written
		}
		return nil, command.Usage(message.Error(fmt.Sprintf("--result-file: cannot write %s: %v", path, err), err), "")
	}
	if open, is, err := openAlready(std, path); is {
		if err != nil {
			return wrong(err)
		}
		return &resultFile{path, open}, nil
	}
	f := &resultFile{path: linked(path)}
	info, err := os.Stat(f.path)
	switch {
	case err == nil && info.IsDir():
		return nil, command.Usage(message.Error(fmt.Sprintf("--result-file: %s is a directory", path)), "")
	case err == nil && !info.Mode().IsRegular():
		err = writable(f.path, info.Mode())
	case err == nil:
		err = f.try(true)
	case errors.Is(err, fs.ErrNotExist):
		if dir, derr := os.Stat(filepath.Dir(f.path)); derr != nil || !dir.IsDir() {
			return nil, command.Usage(message.Error(fmt.Sprintf("--result-file: directory %s does not exist", filepath.Dir(f.path))), "")
		}
		err = f.try(false)
	}
	if err != nil {
		return wrong(err)
	}
	return f, nil
}

// linked is where symbolic links lead to, also if there is nothing yet: a link is written through and not replaced.
func linked(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	for range 40 {
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return path
}

// try finds out whether the file can be made beside its name and moved there, or, if it is there already, be written to.
func (f *resultFile) try(there bool) error {
	tmp, err := f.beside()
	if err == nil {
		return tmp.Discard()
	}
	if there {
		if out, oerr := os.OpenFile(f.path, os.O_WRONLY, 0); oerr == nil {
			return out.Close()
		}
	}
	return err
}

// beside makes a file in the same directory. Its name does not depend on the other's, which may be as long as names can be.
func (f *resultFile) beside() (*atomicfile.File, error) {
	return atomicfile.Create(f.path, ".belay-result-*")
}

func (f *resultFile) write(r *belaytype.Result) error {
	if f.open != nil {
		return writeTo(f.open, r)
	}
	info, err := os.Stat(f.path)
	if err == nil && !info.Mode().IsRegular() {
		return f.overwrite(r, os.O_WRONLY)
	}
	tmp, err := f.beside()
	if err != nil && info != nil {
		return f.overwrite(r, os.O_WRONLY|os.O_TRUNC) // in a directory where nothing can be made
	}
	if err != nil {
		return err
	}
	if err := encode(tmp, r); err != nil {
		return errors.Join(err, tmp.Discard())
	}
	err = tmp.Commit()
	if _, ok := errors.AsType[*os.LinkError](err); ok && info != nil {
		return f.overwrite(r, os.O_WRONLY|os.O_TRUNC) // something is mounted there
	}
	return err
}

// overwrite writes to what is there.
func (f *resultFile) overwrite(r *belaytype.Result, flags int) error {
	out, err := os.OpenFile(f.path, flags, 0)
	if err != nil {
		return err
	}
	return writeTo(out, r)
}
