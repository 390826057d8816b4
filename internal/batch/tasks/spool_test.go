package tasks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/flock"
	"github.com/belay-run/belay/internal/test/must"
)

func put(t testing.TB, path, text string) {
	t.Helper()
	must.OK(t, os.WriteFile(path, []byte(text), 0o600))
}

func has(t testing.TB, path, want string) {
	t.Helper()
	if data, err := os.ReadFile(path); err != nil || string(data) != want {
		t.Errorf("%s: %q, %v; want %q", path, data, err, want)
	}
}

// Where all names are taken, tasks from stdin are refused. A copy that another process is writing is not taken for an abandoned one.
func TestSpool_NamesAreTaken(t *testing.T) {
	results := filepath.Join(t.TempDir(), "r")
	put(t, results+".tasks.7", spoolMark+"secret\n")
	put(t, results+".tasks.8", spoolMark+"of another process\n")
	f, err := flock.Open(results + ".tasks.8")
	if err == nil {
		_, err = flock.Try(f, flock.Exclusive)
	}
	must.OK(t, err)
	defer f.Close()
	put(t, results+".tasks", "mine")
	put(t, results+".stdin", "mine too")
	if spool, err := ReadSpool(t.Context(), strings.NewReader("x\n"), results, false); err == nil {
		t.Errorf("%+v", spool)
	}
	has(t, results+".tasks", "mine")
	has(t, results+".stdin", "mine too")
	has(t, results+".tasks.8", spoolMark+"of another process\n")
	if left, _ := filepath.Glob(results + "*"); len(left) != 3 {
		t.Errorf("%q", left)
	}
}
