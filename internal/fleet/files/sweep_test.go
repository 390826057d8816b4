package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
)

// Repositories that were not used for long are removed, and nothing else that is in their directory.
func TestCache_SweepsOnlyItsOwn(t *testing.T) {
	c := &Cache{Dir: filepath.Join(t.TempDir(), "git")}
	name := strings.Repeat("0a", 12)
	stays := map[string]bool{name + "/HEAD": false, strings.Repeat("1b", 12) + "/notes": true, "mine/HEAD": true, "notes.txt": true}
	for path := range stays {
		path = filepath.Join(c.Dir, path)
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.OK(t, os.WriteFile(path, []byte("x"), 0o600))
	}
	old := time.Now().Add(-2 * forgetAfter)
	all, _ := filepath.Glob(filepath.Join(c.Dir, "*"))
	for _, path := range all {
		os.Chtimes(path, old, old)
	}
	c.Sweep()
	for path, stay := range stays {
		if _, err := os.Lstat(filepath.Join(c.Dir, path)); (err == nil) != stay {
			t.Errorf("%s: %v", path, err)
		}
	}
}
