package jobs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/test/must"
)

// A session continues only in the directory that it knows, as it has left it.
func TestPrepare_Session(t *testing.T) {
	w := &Worker{Dir: t.TempDir()}
	job := &fleetpipe.Job{Args: []string{"x"}}
	prepare := func(session string) (string, *attempt) {
		t.Helper()
		a := &attempt{claimed: claimed{fence: fence{1, 1}, session: session}}
		a.setBegun()
		dir, err := w.prepare(t.Context(), a, job)
		must.OK(t, err)
		return dir, a
	}
	first, a := prepare("")
	if a.begun != "new" {
		t.Errorf("it is %s", a.begun)
	}
	file := filepath.Join(first, "file")
	must.OK(t, os.WriteFile(file, nil, 0o600))
	if dir, a := prepare("s"); dir != first || a.begun != "resumed" || a.session != "s" {
		t.Errorf("%s, not %s: %+v", dir, first, a.claimed)
	} else if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	w.clear(1)
	if dir, a := prepare("s"); dir != first || a.begun != "restarted" || a.session != "" {
		t.Errorf("%s, not %s: %+v", dir, first, a.claimed)
	}
	w.clear(1)
	earlier := filepath.Join(w.place(1), workName) // where earlier versions had it
	if err := os.MkdirAll(earlier, 0o700); err != nil {
		t.Fatal(err)
	}
	if dir, a := prepare("s"); dir != earlier || a.begun != "resumed" {
		t.Errorf("%s, not %s: %+v", dir, earlier, a.claimed)
	}
	job.Dir = t.TempDir()
	if dir, a := prepare("s"); dir != job.Dir || a.begun != "resumed" {
		t.Errorf("%s, not %s: %+v", dir, job.Dir, a.claimed)
	}
}
