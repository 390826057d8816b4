//go:build unix

package safefile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/test/must"
)

const otherUID = 12345

// thing is something that may be at the path of a file.
type thing struct {
	name string
	make func(t *testing.T, path, other string)
	own  error // why it is not Belay's own; nil if it can be used
	user error
	repo error
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must.OK(t, os.WriteFile(path, []byte(text), 0o600))
}

// errAny stands for any error that is not an [*safefile.Error].
var errAny = errors.New("any")

var things = []thing{
	{"File", func(t *testing.T, path, _ string) { write(t, path, "text") }, nil, nil, nil},
	{"Nothing", func(*testing.T, string, string) {}, fs.ErrNotExist, fs.ErrNotExist, fs.ErrNotExist},
	{"SymbolicLink", func(t *testing.T, path, other string) { must.OK(t, os.Symlink(other, path)) }, safefile.ErrLink, nil, safefile.ErrLink},
	{"DanglingLink", func(t *testing.T, path, other string) { must.OK(t, os.Symlink(other+"-missing", path)) }, safefile.ErrLink, fs.ErrNotExist, safefile.ErrLink},
	{"LinkToItself", func(t *testing.T, path, _ string) { must.OK(t, os.Symlink(path, path)) }, safefile.ErrLink, errAny, safefile.ErrLink},
	{"HardLink", func(t *testing.T, path, other string) { must.OK(t, os.Link(other, path)) }, safefile.ErrHardLink, nil, nil},
	{"Directory", func(t *testing.T, path, _ string) { must.OK(t, os.Mkdir(path, 0o700)) }, safefile.ErrNotRegular, safefile.ErrNotRegular, safefile.ErrNotRegular},
	{"NamedPipe", func(t *testing.T, path, _ string) { must.OK(t, syscall.Mkfifo(path, 0o600)) }, safefile.ErrNotRegular, safefile.ErrNotRegular, safefile.ErrNotRegular},
	{"LinkToPipe", func(t *testing.T, path, other string) {
		must.OK(t, syscall.Mkfifo(other+"-pipe", 0o600))
		must.OK(t, os.Symlink(other+"-pipe", path))
	}, safefile.ErrLink, safefile.ErrNotRegular, safefile.ErrLink},
	{"LinkToDevice", func(t *testing.T, path, _ string) { must.OK(t, os.Symlink("/dev/zero", path)) }, safefile.ErrLink, safefile.ErrNotRegular, safefile.ErrLink},
	{"Socket", func(t *testing.T, path, _ string) {
		dir, err := os.MkdirTemp("", "s") // the name of a socket must be short
		must.OK(t, err)
		t.Cleanup(func() { os.RemoveAll(dir) })
		l, err := net.Listen("unix", filepath.Join(dir, "s"))
		must.OK(t, err)
		t.Cleanup(func() { l.Close() })
		must.OK(t, os.Rename(filepath.Join(dir, "s"), path))
	}, safefile.ErrNotRegular, safefile.ErrNotRegular, safefile.ErrNotRegular},
	{"Large", func(t *testing.T, path, _ string) { write(t, path, strings.Repeat("x", 101)) }, safefile.ErrTooLarge, safefile.ErrTooLarge, safefile.ErrTooLarge},
	{"AsLargeAsCanBe", func(t *testing.T, path, _ string) { write(t, path, strings.Repeat("x", 100)) }, nil, nil, nil},
	{"AnotherUsers", func(t *testing.T, path, _ string) {
		if os.Geteuid() != 0 {
			t.Skip("only root can give a file away")
		}
		write(t, path, "text")
		must.OK(t, os.Chown(path, otherUID, -1))
	}, safefile.ErrOwner, safefile.ErrOwner, safefile.ErrOwner},
}

// check compares an error with the one that is expected.
func check(t *testing.T, way string, got, want error) {
	t.Helper()
	refused, is := errors.AsType[*safefile.Error](got)
	switch {
	case want == nil && got != nil, want != nil && got == nil:
		t.Errorf("%s: %v, want %v", way, got, want)
	case want == errAny || want == nil || want == fs.ErrNotExist:
		if is || want == fs.ErrNotExist && !errors.Is(got, want) {
			t.Errorf("%s: %v, want %v", way, got, want)
		}
	case !is || !errors.Is(got, want) || !strings.HasPrefix(got.Error(), refused.Path+" "):
		t.Errorf("%s: %v, want %v", way, got, want)
	}
}

// Whatever is at the path, each kind of file accepts what it may and refuses the rest with a reason, without waiting.
func TestRead(t *testing.T) {
	for _, thing := range things {
		t.Run(thing.name, func(t *testing.T) {
			dir := t.TempDir()
			path, other := filepath.Join(dir, "file"), filepath.Join(t.TempDir(), "other")
			write(t, other, "other")
			thing.make(t, path, other)
			_, err := safefile.ReadOwn(path, 100)
			check(t, "own", err, thing.own)
			if thing.own != safefile.ErrTooLarge {
				check(t, "own, not opened", safefile.CheckOwn(path), thing.own)
				_, err = safefile.OpenOwnElsewhere(path, os.O_RDONLY)
				check(t, "own, elsewhere", err, thing.own)
			}
			_, err = safefile.ReadUser(path, 100)
			check(t, "user", err, thing.user)
			_, err = safefile.ReadRepository(dir, path, 100)
			check(t, "repository", err, thing.repo)
			want := thing.user
			if want == safefile.ErrOwner {
				want = nil
			}
			_, err = safefile.ReadRegular(path, 100)
			check(t, "regular", err, want)
		})
	}
}

// A file of Belay's own that is opened to be written is not changed before it was checked, and nothing else is at all.
func TestOpenOwn_Writes(t *testing.T) {
	for _, flag := range []int{os.O_WRONLY | os.O_CREATE | os.O_TRUNC, os.O_RDWR | os.O_CREATE | os.O_TRUNC, os.O_WRONLY | os.O_CREATE | os.O_APPEND | os.O_TRUNC} {
		for _, thing := range things {
			t.Run(fmt.Sprintf("%s/%x", thing.name, flag), func(t *testing.T) {
				path, other := filepath.Join(t.TempDir(), "file"), filepath.Join(t.TempDir(), "other")
				write(t, other, "other")
				thing.make(t, path, other)
				f, err := safefile.OpenOwn(path, flag)
				want := thing.own
				if want == fs.ErrNotExist || want == safefile.ErrTooLarge {
					want = nil
				}
				check(t, "own", err, want)
				if err == nil {
					f.WriteString("new")
					f.Close()
					if data, err := safefile.ReadOwn(path, 100); string(data) != "new" {
						t.Errorf("written: %q, %v", data, err)
					}
					if info, err := os.Lstat(path); thing.name == "Nothing" && info.Mode() != 0o600 {
						t.Errorf("%v, %v", info.Mode(), err)
					}
				} else if thing.name == "AnotherUsers" {
					if data, err := os.ReadFile(path); string(data) != "text" {
						t.Errorf("%q, %v", data, err)
					}
				}
				if data, err := os.ReadFile(other); string(data) != "other" {
					t.Errorf("what a link leads to holds %q, %v", data, err)
				}
				if _, err := os.Lstat(other + "-missing"); err == nil {
					t.Error("a file was made where a link leads")
				}
			})
		}
	}
}

// What is there already is never opened by a creation.
func TestCreateOwn(t *testing.T) {
	for _, thing := range things {
		path, other := filepath.Join(t.TempDir(), "file"), filepath.Join(t.TempDir(), "other")
		write(t, other, "other")
		if t.Run(thing.name, func(t *testing.T) { thing.make(t, path, other) }); thing.name == "Socket" {
			continue // which has gone with its test
		}
		_, lerr := os.Lstat(path)
		f, err := safefile.CreateOwn(path)
		if (err == nil) != (lerr != nil) || err != nil && !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", thing.name, err)
		}
		f.Close()
	}
}

func TestWriteOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, text := range []string{"a text", "text"} {
		must.OK(t, safefile.WriteOwn(path, []byte(text)))
		if data, err := os.ReadFile(path); string(data) != text {
			t.Errorf("%q, %v", data, err)
		}
	}
	must.OK(t, os.Symlink(path, path+"-link"))
	check(t, "link", safefile.WriteOwn(path+"-link", nil), safefile.ErrLink)
}

// A file that was replaced while it was opened has no name any more, and can still be read.
func TestOpenOwn_Replaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "text")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 300 {
			os.WriteFile(path+".new", fmt.Append(nil, i), 0o600)
			os.Rename(path+".new", path)
		}
	}()
	for {
		select {
		case <-done:
			return
		default:
		}
		if _, err := safefile.ReadOwn(path, 100); err != nil {
			t.Fatal(err)
		}
	}
}

// Nothing below the root of a repository may be a link, and the path may not leave it; the way to the root may have links.
func TestReadRepository_Way(t *testing.T) {
	top := t.TempDir()
	root, outside := filepath.Join(top, "repository"), filepath.Join(top, "outside")
	for _, dir := range []string{filepath.Join(root, "a", "b"), outside} {
		must.OK(t, os.MkdirAll(dir, 0o700))
	}
	write(t, filepath.Join(root, "a", "b", "file"), "text")
	write(t, filepath.Join(outside, "file"), "text")
	must.OK(t, os.Symlink("b", filepath.Join(root, "a", "link")))
	must.OK(t, os.Symlink(outside, filepath.Join(root, "out")))
	must.OK(t, os.Symlink(root, filepath.Join(top, "link")))
	must.OK(t, syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600))
	for path, want := range map[string]error{
		"a/b/file":        nil,
		"a/../a/b/./file": nil,
		"a/link/file":     safefile.ErrLink,
		"out/file":        safefile.ErrLink,
		"out/missing":     safefile.ErrLink,
		"../outside/file": safefile.ErrOutside,
		"a/b/missing":     fs.ErrNotExist,
		"a/missing/file":  fs.ErrNotExist,
		"a/b/file/file":   safefile.ErrNotDir,
		"pipe/file":       safefile.ErrNotDir,
		".":               safefile.ErrNotRegular,
	} {
		for _, root := range []string{root, filepath.Join(top, "link")} {
			data, err := safefile.ReadRepository(root, filepath.Clean(root)+"/"+path, 100)
			check(t, path, err, want)
			if err == nil && string(data) != "text" {
				t.Errorf("%s: %q", path, data)
			}
		}
	}
	t.Chdir(root)
	data, err := safefile.ReadRepository(".", "a/b/file", 100)
	if string(data) != "text" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
}

// The owner of a repository may be another user, as where root works in a container on a checkout from outside. Then the
// files may be that user's.
func TestOwners(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	root := t.TempDir()
	path := filepath.Join(root, "file")
	write(t, path, "text")
	for _, tt := range []struct {
		root, file                   int
		own, elsewhere, user, theirs error
	}{
		{0, 0, nil, nil, nil, nil},
		{otherUID, otherUID, nil, nil, nil, nil},
		{otherUID, 0, nil, nil, nil, nil},
		{otherUID, otherUID + 1, safefile.ErrOwner, safefile.ErrOwner, safefile.ErrOwner, safefile.ErrOwner},
		{0, otherUID, safefile.ErrOwner, safefile.ErrOwner, safefile.ErrOwner, safefile.ErrOwner},
	} {
		must.OK(t, os.Chown(root, tt.root, -1))
		must.OK(t, os.Chown(path, tt.file, -1))
		_, err := safefile.ReadOwn(path, 100)
		check(t, "own", err, tt.own)
		_, err = safefile.OpenOwnElsewhere(path, os.O_RDONLY)
		check(t, "own, elsewhere", err, tt.elsewhere)
		_, err = safefile.ReadUser(path, 100)
		check(t, "user", err, tt.user)
		_, err = safefile.ReadRepository(root, path, 100)
		check(t, "repository", err, tt.theirs)
	}
}

func TestOwnDir(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(t *testing.T, path, other string)
		want error
	}{
		{"Directory", func(t *testing.T, path, _ string) {
			must.OK(t, os.Mkdir(path, 0o700))
			write(t, filepath.Join(path, "name"), "")
		}, nil},
		{"Nothing", func(*testing.T, string, string) {}, fs.ErrNotExist},
		{"File", func(t *testing.T, path, _ string) { write(t, path, "") }, safefile.ErrNotDir},
		{"SymbolicLink", func(t *testing.T, path, other string) { must.OK(t, os.Symlink(other, path)) }, safefile.ErrLink},
		{"NamedPipe", func(t *testing.T, path, _ string) { must.OK(t, syscall.Mkfifo(path, 0o600)) }, safefile.ErrNotDir},
		{"AnotherUsers", func(t *testing.T, path, _ string) {
			if os.Geteuid() != 0 {
				t.Skip("only root can give a directory away")
			}
			must.OK(t, os.Mkdir(path, 0o700))
			must.OK(t, os.Chown(path, otherUID, -1))
		}, safefile.ErrOwner},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path, other := filepath.Join(t.TempDir(), "dir"), t.TempDir()
			tt.make(t, path, other)
			names, err := safefile.ReadOwnDir(path)
			check(t, "read", err, tt.want)
			if err == nil && (len(names) != 1 || names[0] != "name") {
				t.Errorf("%q", names)
			}
			want := tt.want
			if want == fs.ErrNotExist {
				want = nil
			}
			check(t, "make", safefile.MakeOwnDir(path), want)
			if info, err := os.Lstat(path); want == nil && info.Mode() != fs.ModeDir|0o700 {
				t.Errorf("%v, %v", info, err)
			}
		})
	}
}

// A secret is the user's and perhaps a group's, and a file of passwords the user's alone.
func TestReadSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	write(t, path, "plum")
	for mode, want := range map[os.FileMode]error{0o600: nil, 0o400: nil, 0o640: nil, 0o604: safefile.ErrShared, 0o620: safefile.ErrShared, 0o666: safefile.ErrShared} {
		must.OK(t, os.Chmod(path, mode))
		data, err := safefile.ReadSecret(path, 10)
		if !errors.Is(err, want) || (err == nil) != (string(data) == "plum") {
			t.Errorf("mode %o: %q, %v", mode, data, err)
		}
		if mode == 0o640 {
			want = safefile.ErrShared
		}
		if !errors.Is(safefile.CheckSecret(path), want) {
			t.Errorf("mode %o: %v", mode, safefile.CheckSecret(path))
		}
	}
}

func TestError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, strings.Repeat("x", 5000))
	for limit, want := range map[int64]string{100: " is larger than 100 bytes", 4096: " is larger than 4 KiB"} {
		if _, err := safefile.ReadUser(path, limit); err == nil || err.Error() != path+want {
			t.Errorf("%v, want %s%s", err, path, want)
		}
	}
}

// Root uses the files of a home that is another user's, as with sudo or in a container.
func TestOwners_RootInTheHomeOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	for mode, want := range map[os.FileMode]bool{0o700: true, 0o755: true, 0o775: false, 0o777 | os.ModeSticky: false} {
		dir := t.TempDir()
		path := filepath.Join(dir, "file")
		must.OK(t, os.WriteFile(path, []byte("x"), 0o600))
		must.OK(t, os.Chown(path, otherUID, -1))
		must.OK(t, os.Chown(dir, otherUID, -1))
		must.OK(t, os.Chmod(dir, mode))
		for name, read := range map[string]func(string, int64) ([]byte, error){"own": safefile.ReadOwn, "user": safefile.ReadUser} {
			if _, err := read(path, 10); (err == nil) != want {
				t.Errorf("%s, directory %v: %v", name, mode, err)
			}
		}
	}
}
