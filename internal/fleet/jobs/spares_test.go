//go:build unix

package jobs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/belay-run/belay/internal/fleet/fleettest"
)

// A directory is used again only if the job has left it as it was made. What a link that a job has put in its place leads to is not touched.
func TestSpares(t *testing.T) {
	users := t.TempDir()
	fleettest.Put(t, users, "file", "")
	empty := filepath.Join(users, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		leave func(dir string) error
		again bool
	}{
		"Empty":   {func(string) error { return nil }, true},
		"File":    {func(dir string) error { return os.WriteFile(filepath.Join(dir, "f"), nil, 0o600) }, false},
		"Locked":  {func(dir string) error { return os.Chmod(dir, 0o500) }, false},
		"Open":    {func(dir string) error { return os.Chmod(dir, 0o777) }, false},
		"Removed": {os.Remove, false},
		"Link": {func(dir string) error {
			os.Remove(dir)
			return os.Symlink(users, dir)
		}, false},
		"LinkToEmpty": {func(dir string) error {
			os.Remove(dir)
			return os.Symlink(empty, dir)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := spares{most: 1}
			first, second := filepath.Join(dir, "1.work"), filepath.Join(dir, "2.work")
			if err := s.make(first); err != nil {
				t.Fatal(err)
			}
			before, err := os.Stat(first)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.leave(first); err != nil {
				t.Fatal(err)
			}
			s.remove(first)
			if _, err := os.Lstat(first); err == nil {
				t.Error("it is still there")
			}
			spare := len(s.paths) == 1
			if err := s.make(second); err != nil {
				t.Fatal(err)
			}
			after, err := os.Lstat(second)
			if err != nil {
				t.Fatal(err)
			}
			if left, err := os.ReadDir(second); err != nil || len(left) != 0 || after.Mode() != os.ModeDir|0o700 {
				t.Errorf("%v %v %v", after.Mode(), left, err)
			}
			if spare != c.again || c.again && !os.SameFile(before, after) {
				t.Errorf("used again: %t, want %t", spare, c.again)
			}
			if _, err := os.Stat(filepath.Join(users, "file")); err != nil {
				t.Error(err)
			}
		})
	}
}

// What a killed worker has left of them is removed at the next start, and there are not more than may be.
func TestSpares_Left(t *testing.T) {
	w := &Worker{Dir: t.TempDir()}
	w.spares.most = 1
	for _, name := range []string{"1.1", "2.1"} {
		dir := filepath.Join(w.Dir, name)
		if err := w.spares.make(dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"1.1", "2.1"} {
		w.spares.remove(filepath.Join(w.Dir, name))
	}
	if names, _ := os.ReadDir(w.Dir); len(names) != 1 {
		t.Errorf("%v", names)
	}
	fleettest.Put(t, w.Dir, "spare.users/file", "")
	if _, _, err := w.left(); err != nil {
		t.Fatal(err)
	}
	if names, _ := os.ReadDir(w.Dir); len(names) != 1 || names[0].Name() != "spare.users" {
		t.Errorf("%v", names)
	}
}
