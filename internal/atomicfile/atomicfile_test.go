package atomicfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/test/must"
)

// roleVar makes the test binary another process, which replaces the file that it names again and again.
const roleVar = "ATOMICFILE_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		os.Exit(m.Run())
	}
	path := os.Args[1]
	for i := 0; ; i++ {
		err := write(role, path, content(i))
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		if i == 0 {
			fmt.Println("ready")
		}
	}
}

func write(role, path string, data []byte) error {
	if role == "WriteVia" {
		return atomicfile.WriteVia(path+".new", path, data)
	}
	return atomicfile.Write(path, ".new-*", data)
}

// content is one byte, many times, and how often; so that a mixture of two contents can be told from each of them.
func content(i int) []byte {
	n := 1000 + i%7*10_000
	return fmt.Appendf(nil, "%d %s", n, bytes.Repeat([]byte{'a' + byte(i%26)}, n))
}

func check(data []byte) error {
	text, letters, _ := strings.Cut(string(data), " ")
	if letters == "" || text != fmt.Sprint(len(letters)) || strings.Trim(letters, letters[:1]) != "" {
		return fmt.Errorf("%d bytes, which no writer has written: %.20q", len(data), data)
	}
	return nil
}

// Readers see whole files while writers replace them, and after writers were killed with SIGKILL.
func TestWrite_Killed(t *testing.T) {
	for _, role := range []string{"Write", "WriteVia"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path, random := filepath.Join(dir, "file"), faulttest.Random(t)
			for range 25 {
				cmd := exec.Command(os.Args[0], path)
				cmd.Env = append(os.Environ(), roleVar+"="+role)
				out, err := cmd.StdoutPipe()
				if err == nil {
					err = cmd.Start()
				}
				must.OK(t, err)
				said := make([]byte, 5)
				out.Read(said)
				for end := time.Now().Add(faulttest.N(random, 5*time.Millisecond)); time.Now().Before(end); {
					data, err := os.ReadFile(path)
					if err = errors.Join(err, check(data)); err != nil {
						t.Error(err)
					}
				}
				cmd.Process.Kill()
				cmd.Wait()
				if string(said) != "ready" {
					t.Fatalf("the process said %q", said)
				}
			}
			data, err := os.ReadFile(path)
			if err = errors.Join(err, check(data)); err != nil {
				t.Error(err)
			}
			if left := names(t, dir); role == "WriteVia" && len(left) > 2 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must.OK(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// What is there is replaced, whatever it is, by a file for this user alone, and nothing else is left.
func TestWrite(t *testing.T) {
	for _, role := range []string{"Write", "WriteVia"} {
		for before, prepare := range map[string]func(path, other string) error{
			"Nothing": func(string, string) error { return nil },
			"File":    func(path, _ string) error { return os.WriteFile(path, []byte("old, and longer"), 0o644) },
			"Link":    func(path, other string) error { return os.Symlink(other, path) },
		} {
			t.Run(role+before, func(t *testing.T) {
				dir := t.TempDir()
				path, other := filepath.Join(dir, "file"), filepath.Join(t.TempDir(), "other")
				must.OK(t, errors.Join(os.WriteFile(other, []byte("other"), 0o600), prepare(path, other)))
				must.OK(t, write(role, path, []byte("new")))
				info, err := os.Lstat(path)
				if err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
					t.Errorf("%v, %v", info.Mode(), err)
				}
				data, _ := os.ReadFile(path)
				kept, _ := os.ReadFile(other)
				if string(data) != "new" || string(kept) != "other" || len(names(t, dir)) != 1 {
					t.Errorf("%q, %q, %v", data, kept, names(t, dir))
				}
			})
		}
	}
}

// What is at the name of the temporary file is not written to, whatever it is.
func TestWriteVia_TemporaryTaken(t *testing.T) {
	for name, prepare := range map[string]func(path, other string) error{
		"File":         func(path, _ string) error { return os.WriteFile(path, []byte("left by a killed writer"), 0o600) },
		"SymbolicLink": func(path, other string) error { return os.Symlink(other, path) },
		"HardLink":     func(path, other string) error { return os.Link(other, path) },
		"Directory":    func(path, _ string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, other := filepath.Join(dir, "file"), filepath.Join(t.TempDir(), "other")
			must.OK(t, errors.Join(os.WriteFile(other, []byte("other"), 0o600), prepare(path+".new", other)))
			must.OK(t, atomicfile.WriteVia(path+".new", path, []byte("new")))
			data, _ := os.ReadFile(path)
			kept, _ := os.ReadFile(other)
			if string(data) != "new" || string(kept) != "other" || len(names(t, dir)) != 1 {
				t.Errorf("%q, %q, %v", data, kept, names(t, dir))
			}
		})
	}
	path := filepath.Join(t.TempDir(), "file")
	must.OK(t, os.MkdirAll(filepath.Join(path+".new", "x"), 0o700))
	if err := atomicfile.WriteVia(path+".new", path, []byte("new")); err == nil {
		t.Error("written via a directory that is not empty")
	}
}

// A file that cannot be replaced stays as it is, and no temporary file does.
func TestWrite_Fails(t *testing.T) {
	for _, role := range []string{"Write", "WriteVia"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "file")
		must.OK(t, os.MkdirAll(filepath.Join(path, "x"), 0o700))
		err := write(role, path, []byte("new"))
		if _, ok := errors.AsType[*os.LinkError](err); !ok || len(names(t, dir)) != 1 {
			t.Errorf("%s: %v; left %v", role, err, names(t, dir))
		}
		if err := write(role, filepath.Join(dir, "missing", "file"), nil); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", role, err)
		}
	}
}

func TestFile_Discard(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	must.OK(t, os.WriteFile(path, []byte("old"), 0o600))
	f, err := atomicfile.Create(path, ".tmp-*")
	must.OK(t, err)
	f.WriteString("new")
	if err := f.Discard(); err != nil {
		t.Error(err)
	}
	if data, _ := os.ReadFile(path); string(data) != "old" || len(names(t, dir)) != 1 {
		t.Errorf("%q, %v", data, names(t, dir))
	}
}

// A file that was closed before cannot be known to be whole: it does not take the name.
func TestFile_CommitOfAClosedFile(t *testing.T) {
	dir := t.TempDir()
	f, err := atomicfile.Create(filepath.Join(dir, "file"), ".tmp-*")
	must.OK(t, err)
	f.Close()
	if err := f.Commit(); !errors.Is(err, os.ErrClosed) || len(names(t, dir)) != 0 {
		t.Errorf("%v; left %v", err, names(t, dir))
	}
}
