package clientfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
)

// maxFile is the size of the largest file that is edited. That of claude grows with the number of projects.
const maxFile = 64 << 20

// backupSuffix is added to the name of a file for the copy that stands beside it.
const backupSuffix = ".belay-backup"

// ErrChanged says that a file was changed while it was edited.
var ErrChanged = message.Error("another program changed it meanwhile; try again")

// diskFile is a file of a client where it lies. It need not exist.
//
// A file of the user's own may be a link to where dotfiles are kept. It is followed, and stays. A file that came with a
// repository may not: the links of a repository lead where its authors like, for instance to a file of the user who has
// cloned it. Everything else is the same for both. What is not a regular file is not read, and what is written is a new
// file that then takes the name: a link, a pipe or a second name of another file that stood there is replaced, and what it
// led to is not touched.
type diskFile struct {
	dir  *os.Root // the directory that it is in, so that nothing can take the directory's place
	name string
}

// openFile opens a file of the user's, where links lead; or, if repository is not empty, a file that lies below that
// directory, where none may lead. The caller closes it.
func openFile(repository, path string) (*diskFile, error) {
	if repository != "" {
		return openBelow(repository, path)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	} else if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	return openBelow(filepath.Dir(path), path)
}

// openBelow opens a file that no link leads to on the way from dir.
func openBelow(dir, path string) (*diskFile, error) {
	name, err := below(dir, path)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	for {
		parent, rest, deeper := strings.Cut(name, string(filepath.Separator))
		if !deeper {
			return &diskFile{root, name}, nil
		}
		child, err := enter(root, parent)
		root.Close()
		if err != nil {
			return nil, err
		}
		root, name = child, rest
	}
}

// below is the path from dir.
func below(dir, path string) (string, error) {
	from, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.Rel(from, to)
}

// enter opens a directory that is not a link to one.
func enter(root *os.Root, name string) (*os.Root, error) {
	seen, err := root.Lstat(name)
	if err == nil && !seen.IsDir() {
		err = unusable(filepath.Join(root.Name(), name), seen, "a directory")
	}
	if err != nil {
		return nil, err
	}
	child, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	// OpenRoot follows a link that has been put there since.
	if opened, err := child.Stat("."); err != nil || !os.SameFile(seen, opened) {
		child.Close()
		return nil, errors.Join(ErrChanged, err)
	}
	return child, nil
}

// close closes the directory of the file.
func (f *diskFile) close() error { return f.dir.Close() }

// path is where the file lies.
func (f *diskFile) path() string { return filepath.Join(f.dir.Name(), f.name) }

// read returns what the file holds; an [fs.ErrNotExist] if there is none.
func (f *diskFile) read() ([]byte, error) {
	seen, err := f.regular()
	if err != nil {
		return nil, err
	}
	file, err := f.open(f.name, os.O_RDONLY|nonBlocking)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// Within the directory, open follows a link that has been put there since.
	if opened, err := file.Stat(); err != nil || !os.SameFile(seen, opened) {
		return nil, errors.Join(ErrChanged, err)
	}
	return io.ReadAll(io.LimitReader(file, maxFile+1))
}

// open opens a file of the directory. The error has its whole path.
func (f *diskFile) open(name string, flag int) (*os.File, error) {
	file, err := f.dir.OpenFile(name, flag, 0o600)
	if wrong, ok := errors.AsType[*fs.PathError](err); ok {
		err = &fs.PathError{Op: "open", Path: filepath.Join(f.dir.Name(), name), Err: wrong.Err}
	}
	return file, err
}

// regular describes the file, if it is a regular one.
func (f *diskFile) regular() (fs.FileInfo, error) {
	info, err := f.dir.Lstat(f.name)
	if err == nil && !info.Mode().IsRegular() {
		err = unusable(f.path(), info, "a regular file")
	}
	return info, err
}

// unusable says why something cannot be used that is not what it should be.
func unusable(path string, info fs.FileInfo, want string) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		return message.Error(path + " is a link, and links in a repository are not followed")
	}
	return message.Error(fmt.Sprintf("%s is not %s", path, want))
}

// backup makes a copy of that name beside the file that holds text.
func (f *diskFile) backup(name string, text []byte) error {
	tmp, err := f.create(text)
	if err == nil {
		err = f.rename(tmp, name)
	}
	if err != nil {
		return message.Error(fmt.Sprintf("cannot make a copy: %v", err), err)
	}
	return nil
}

// findBackup is the name of the copy beside the file. With belay in the file, it is the last of the names that are taken: it was free when the copy
// was made, and those before it were not. Without, it is the first that is free, which is new, or that holds the same; what has the others was not made by
// belay.
func (f *diskFile) findBackup(text []byte, isInstalled bool) (name string, isNew bool) {
	const most = 100
	for n := 1; n < most; n++ {
		next := f.name + backupSuffix
		if n > 1 {
			next += "-" + strconv.Itoa(n)
		}
		if info, err := f.dir.Lstat(next); err != nil || info.IsDir() {
			if isInstalled && name != "" {
				return name, false
			}
			return next, true
		}
		if name = next; !isInstalled {
			if held, err := (&diskFile{f.dir, name}).read(); err == nil && bytes.Equal(held, text) {
				return name, false // of an install that was killed
			}
		}
	}
	return name, false
}

// replace puts after in the place of before, which must still be what the file holds: else it is left as it is, and the error is
// an [ErrChanged]. A reader sees one or the other. A change between the last look and the rename, some microseconds later, is lost.
func (f *diskFile) replace(before, after []byte) error {
	tmp, err := f.create(after)
	if err != nil {
		return err
	}
	now, err := f.read()
	if err == nil && !bytes.Equal(now, before) || errors.Is(err, fs.ErrNotExist) {
		err = ErrChanged
	}
	if err != nil {
		f.dir.Remove(tmp)
		return err
	}
	return f.rename(tmp, f.name)
}

// create makes a new file beside the file that holds text, with its mode and, if that is allowed, its owner.
func (f *diskFile) create(text []byte) (name string, err error) {
	info, err := f.regular()
	if err != nil {
		return "", err
	}
	f.sweep(leftover)
	name = f.temporary() + strconv.FormatUint(rand.Uint64(), 36)
	file, err := f.open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return "", err
	}
	_, err = file.Write(text)
	keepOwner(file, info)
	if err = errors.Join(err, file.Chmod(info.Mode().Perm()), file.Sync(), file.Close()); err != nil {
		f.dir.Remove(name)
	}
	return name, err
}

// temporary is how the names of the new files begin.
func (f *diskFile) temporary() string { return "." + f.name + ".belay-" }

// leftover is the age from which a new file is one that a killed belay has left.
const leftover = time.Hour

// sweep removes what a killed belay has left beside the file, if it is older than that.
func (f *diskFile) sweep(age time.Duration) {
	dir, err := f.dir.Open(".")
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if !strings.HasPrefix(name, f.temporary()) {
			continue
		}
		if info, err := f.dir.Lstat(name); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > age {
			f.dir.Remove(name)
		}
	}
}

// rename gives a new file its name, which takes it from what had it.
func (f *diskFile) rename(tmp, name string) error {
	err := f.dir.Rename(tmp, name)
	if err == nil {
		return nil
	}
	f.dir.Remove(tmp)
	if info, _ := f.dir.Lstat(name); info != nil && info.IsDir() {
		return message.Error(filepath.Join(f.dir.Name(), name) + " is a directory")
	}
	return err
}
