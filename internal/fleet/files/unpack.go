package files

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/belay-run/belay/internal/message"
)

// Unpack unpacks what [Pack] has packed into an empty directory. An archive may come from anyone who can submit jobs: if it has anything but files and directories
// with plain names, it is refused. The caller removes what was unpacked before that.
func Unpack(ctx context.Context, packed io.Reader, dir string) error {
	return (&unpacker{bytes: maxUnpacked, entries: maxEntries, steps: maxSteps}).unzip(ctx, packed, dir)
}

// unpacker unpacks one archive.
type unpacker struct {
	bytes   int64 // that may still come
	entries int
	steps   int // parts of names
	root    *os.Root
	dirs    map[string]bool
}

// Limits of names: those of Linux.
const (
	maxName = 4095
	maxPart = 255
)

func (u *unpacker) unzip(ctx context.Context, packed io.Reader, dir string) error {
	zip, err := gzip.NewReader(packed)
	if err != nil {
		return message.Error(message.FilesBadArchive(err), err)
	}
	zip.Multistream(false)
	return u.unpack(ctx, io.LimitReader(zip, u.bytes+4*512*int64(u.entries)), dir) // with room for the headers
}

func (u *unpacker) unpack(ctx context.Context, in io.Reader, dir string) (err error) {
	if u.root, err = os.OpenRoot(dir); err != nil {
		return err
	}
	defer u.root.Close()
	u.dirs = map[string]bool{".": true}
	archive := tar.NewReader(in)
	for {
		header, err := archive.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return message.Error(message.FilesBadArchive(err), err)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		name := header.Name
		if header.Typeflag == tar.TypeDir {
			name = strings.TrimSuffix(name, "/")
		}
		if !plainName(name) {
			return message.Error(message.FilesBadEntry(header.Name))
		}
		if u.steps -= steps(name); u.steps < 0 {
			return message.Error(message.FilesArchiveTooLarge())
		}
		switch header.Typeflag {
		case tar.TypeDir:
			err = u.makeDir(name)
		case tar.TypeReg:
			if err = u.makeDir(path.Dir(name)); err == nil {
				err = u.makeFile(archive, header, name)
			}
		default: // links, devices, pipes
			return message.Error(message.FilesBadEntry(header.Name))
		}
		if err != nil {
			return err
		}
	}
}

// plainName reports whether a name is one that Pack gives: relative, without detours, and not that of a repository's own directory.
func plainName(name string) bool {
	local := filepath.FromSlash(name)
	if name == "" || name == "." || len(name) > maxName || path.Clean(name) != name || !filepath.IsLocal(local) || strings.ContainsRune(name, 0) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > maxPart || isGit(part) {
			return false
		}
	}
	return true
}

// count counts a file or a directory.
func (u *unpacker) count() error {
	if u.entries--; u.entries < 0 {
		return message.Error(message.FilesArchiveTooLarge())
	}
	return nil
}

// makeDir makes a directory with those above it, in one walk from the root: one walk for each of them takes half a minute for 50,000 that are 1,000 deep.
func (u *unpacker) makeDir(name string) error {
	if u.dirs[name] {
		return nil
	}
	for dir := name; !u.dirs[dir]; dir = path.Dir(dir) {
		if err := u.count(); err != nil {
			return err
		}
		u.dirs[dir] = true
	}
	if err := u.root.MkdirAll(filepath.FromSlash(name), 0o700); err != nil {
		return u.trouble(name, err)
	}
	return nil
}

// makeFile makes a file for this user alone. Of its mode only whether it can be run counts.
func (u *unpacker) makeFile(from io.Reader, header *tar.Header, name string) error {
	if err := u.count(); err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	if header.Mode&0o100 != 0 {
		mode = 0o700
	}
	local := filepath.FromSlash(name)
	file, err := u.root.OpenFile(local, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return u.trouble(name, err)
	}
	n, err := io.Copy(file, io.LimitReader(from, u.bytes+1))
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	if u.bytes -= n; u.bytes < 0 {
		return message.Error(message.FilesArchiveTooLarge())
	}
	if err != nil {
		return u.trouble(name, err)
	}
	u.root.Chtimes(local, header.ModTime, header.ModTime) // a wrong time is no reason to fail
	return nil
}

// trouble is an error of a file. A name that is there twice, or is a file and a directory, is the archive's fault.
func (u *unpacker) trouble(name string, err error) error {
	if _, ok := errors.AsType[*fs.PathError](err); ok && !errors.Is(err, fs.ErrExist) && !errors.Is(err, syscall.ENOTDIR) {
		return err
	}
	return message.Error(message.FilesBadEntry(name), err)
}
