package files

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
)

// How large an archive may be: as it is sent, unpacked, and in files and directories.
const (
	MaxPacked   = 32 << 20
	maxUnpacked = 256 << 20
	maxEntries  = 50_000
	// maxSteps bounds the parts of all names together: a file is reached through each directory above it.
	maxSteps = 20 * maxEntries
)

// steps is how many parts a name has.
func steps(name string) int { return 1 + strings.Count(name, "/") }

// Pack packs a directory. In a git work tree it takes what git tracks or would track, and leaves out what is ignored; elsewhere it takes everything. left are
// the names of links and other things that an archive cannot hold. except are paths that are left out silently.
func Pack(ctx context.Context, dir string, except []string) (packed []byte, left []string, err error) {
	names, err := list(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	to := tar.NewWriter(zip)
	unpacked, entries, parts := int64(0), 0, 0
	tooLarge := func() error {
		return message.Error(fmt.Sprintf("%s is too large for an archive, which has at most %d MiB, %d MiB unpacked, and %d files. Use --files git or a shared path", printable.Line(dir), MaxPacked>>20, maxUnpacked>>20, maxEntries))
	}
	for _, name := range names {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if slices.ContainsFunc(except, func(one string) bool { return Within(one, filepath.Join(dir, name)) }) {
			continue
		}
		n, err := add(to, root, name, maxUnpacked-unpacked)
		switch {
		case errors.Is(err, fs.ErrNotExist): // it was deleted, and git still tracks it
		case errors.Is(err, errNotPlain):
			left = append(left, name)
		case errors.Is(err, errTooLarge):
			return nil, nil, tooLarge()
		case err != nil:
			return nil, nil, err
		default:
			entries++
			parts += steps(filepath.ToSlash(name))
		}
		if unpacked += n; entries > maxEntries || parts > maxSteps || out.Len() > MaxPacked {
			return nil, nil, tooLarge()
		}
	}
	if err := errors.Join(to.Close(), zip.Close()); err != nil {
		return nil, nil, err
	}
	if out.Len() > MaxPacked {
		return nil, nil, tooLarge()
	}
	return out.Bytes(), left, nil
}

var (
	errNotPlain = errors.New("neither a file nor a directory")
	errTooLarge = errors.New("too large")
)

// add adds a file or a directory to an archive, and says how large it is.
func add(to *tar.Writer, root *os.Root, name string, limit int64) (size int64, err error) {
	info, err := root.Lstat(name)
	if err != nil {
		return 0, err
	}
	header := &tar.Header{Name: filepath.ToSlash(name), Mode: 0o644, ModTime: info.ModTime(), Format: tar.FormatPAX}
	if info.Mode()&0o111 != 0 {
		header.Mode = 0o755
	}
	header.ModTime = header.ModTime.Truncate(1e9)
	switch {
	case info.IsDir():
		header.Name, header.Typeflag, header.Mode = header.Name+"/", tar.TypeDir, 0o755
		return 0, to.WriteHeader(header)
	case !info.Mode().IsRegular():
		return 0, errNotPlain
	case info.Size() > limit:
		return 0, errTooLarge
	}
	file, err := root.Open(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1)) // its size may change meanwhile
	if err != nil {
		return 0, err
	}
	if header.Size = int64(len(data)); header.Size > limit {
		return 0, errTooLarge
	}
	if err := to.WriteHeader(header); err != nil {
		return 0, err
	}
	_, err = to.Write(data)
	return header.Size, err
}

// list are the names of what is packed, in order.
func list(ctx context.Context, dir string) (names []string, err error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, message.Error(fmt.Sprintf("%s is not a directory", printable.Line(dir)))
	}
	text, err := git{dir: dir}.run(ctx, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && !noRepository(dir, err): // it cannot be known what is ignored, such as files with secrets
		return nil, err
	case text != "":
		for name := range strings.SplitSeq(strings.TrimSuffix(text, "\x00"), "\x00") {
			// A repository in the repository is a directory here.
			if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && info.IsDir() {
				continue
			}
			names = append(names, filepath.FromSlash(name))
		}
		slices.Sort(names)
		return slices.Compact(names), nil
	}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case path == dir:
			return nil
		case isGit(entry.Name()) && entry.IsDir():
			return fs.SkipDir
		case isGit(entry.Name()): // of a work tree whose repository is elsewhere
			return nil
		}
		name, err := filepath.Rel(dir, path)
		names = append(names, name)
		return err
	})
	return names, err
}

// noRepository reports whether git has failed because a directory is in no repository. Without git, that is what the directories above say.
func noRepository(dir string, err error) bool {
	if !errors.Is(err, errNoGit) {
		return strings.Contains(err.Error(), "not a git repository")
	}
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return false
		}
		above := filepath.Dir(dir)
		if above == dir {
			return true
		}
		dir = above
	}
}

// isGit reports whether a name means .git on any system. What is in that directory can name programs that git runs.
func isGit(name string) bool {
	name = strings.TrimRight(name, ". ")
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1")
}
