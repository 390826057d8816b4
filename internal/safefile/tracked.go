package safefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// TrackedLink is the first link on the way to a path that a git repository brings along; empty if there is none. Where such a link leads, its
// authors have decided. What the path or a part of it does not have, leads nowhere.
func TrackedLink(path string) (string, error) {
	at, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	volume := filepath.VolumeName(at)
	left := strings.Split(strings.TrimPrefix(at, volume), string(filepath.Separator))
	at = volume + string(filepath.Separator)
	for links := 0; len(left) > 0; {
		name := left[0]
		left = left[1:]
		next := filepath.Join(at, name)
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", nil
		case err != nil:
			return "", err
		case info.Mode()&fs.ModeSymlink == 0 || name == "":
			at = next // also for .., as at has no link in it
			continue
		}
		tracked, err := isTracked(at, name)
		if err != nil || tracked {
			return next, err
		}
		to, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if links++; links > 255 {
			return "", &Error{path, "leads through too many links", ErrLink}
		}
		if filepath.IsAbs(to) {
			volume = filepath.VolumeName(to)
			at, to = volume+string(filepath.Separator), strings.TrimPrefix(to, volume)
		}
		left = append(strings.Split(filepath.ToSlash(to), "/"), left...)
	}
	return "", nil
}

// isTracked reports whether the git repository that a directory is in has a name in that directory in its index. The directory has no link in it.
func isTracked(dir, name string) (bool, error) {
	for root := dir; ; root = filepath.Dir(root) {
		if _, err := os.Lstat(filepath.Join(root, ".git")); err == nil {
			below, err := filepath.Rel(root, filepath.Join(dir, name))
			if err != nil {
				return false, err
			}
			return inIndex(gitDir(root), filepath.ToSlash(below))
		}
		if filepath.Dir(root) == root {
			return false, nil
		}
	}
}

// gitDir is where git keeps the index of a working tree: in .git, or where that file says if it is a linked one or a submodule.
func gitDir(root string) string {
	path := filepath.Join(root, ".git")
	text, err := ReadRegular(path, 4096)
	if err != nil {
		return path // a directory
	}
	dir := strings.TrimSpace(strings.TrimPrefix(string(text), "gitdir: "))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	return dir
}

// inIndex reports whether a path is in an index, or in the part of one that is split off.
func inIndex(dir, path string) (bool, error) {
	files, _ := filepath.Glob(filepath.Join(globbed(dir), "sharedindex.*"))
	for _, name := range append(files, filepath.Join(dir, "index")) {
		f, err := OpenRegular(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return false, err
		}
		data, err := io.ReadAll(f)
		f.Close()
		if err != nil {
			return false, err
		}
		found, ok := findEntry(data, path, 20)
		if !ok {
			found, ok = findEntry(data, path, 32) // of a repository with SHA-256
		}
		if found || !ok { // what cannot be read may have it
			return true, nil
		}
	}
	return false, nil
}

// globbed is a path as a pattern that matches it alone.
func globbed(path string) string {
	if runtime.GOOS == "windows" {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// findEntry looks for a path among the entries of an index, whose objects have names of that size. ok is false if it is not such an index. Its format
// is in gitformat-index(5).
func findEntry(index []byte, path string, hash int) (found, ok bool) {
	if len(index) < 12 || string(index[:4]) != "DIRC" {
		return false, false
	}
	version, count := binary.BigEndian.Uint32(index[4:]), binary.BigEndian.Uint32(index[8:])
	if version < 2 || version > 4 {
		return false, false
	}
	rest := index[12:]
	var name []byte
	for range count {
		header := 40 + hash + 2
		if len(rest) < header+2 || !isMode(binary.BigEndian.Uint32(rest[24:])) {
			return false, false
		}
		if version > 2 && rest[40+hash]&0x40 != 0 {
			header += 2 // further flags
		}
		begin := header
		if version == 4 { // without what it has in common with the one before
			strip, size := stripped(rest[begin:])
			if size <= 0 || strip > len(name) {
				return false, false
			}
			name, begin = name[:len(name)-strip], begin+size
		} else {
			name = name[:0]
		}
		end := bytes.IndexByte(rest[begin:], 0)
		if end < 0 {
			return false, false
		}
		if name = append(name, rest[begin:begin+end]...); samePath(string(name), path) {
			return true, true
		}
		size := begin + end + 1
		if version < 4 {
			size = (begin + end + 8) &^ 7
		}
		if size > len(rest) {
			return false, false
		}
		rest = rest[size:]
	}
	return false, true
}

// isMode reports whether an entry of an index can have a mode: that of a file, a link, a submodule or a directory.
func isMode(mode uint32) bool {
	switch mode {
	case 0o100644, 0o100755, 0o100664, 0o120000, 0o160000, 0o040000:
		return true
	}
	return false
}

// stripped is a number as git writes it before a path, and how many bytes that takes; 0 if it is none.
func stripped(b []byte) (n, size int) {
	for i, c := range b {
		if i > 4 {
			break
		}
		if n = n<<7 | int(c&0x7f); c&0x80 == 0 {
			return n, i + 1
		}
		n++
	}
	return 0, 0
}

// samePath reports whether two paths are the same, as most file systems of this system see it.
func samePath(a, b string) bool {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.EqualFold(a, b)
	}
	return a == b
}
