package state_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/flock"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

// litter makes leftovers in a state directory and among the temporary files, each once old and once fresh, and returns
// whether each is to stay.
func litter(t *testing.T, s *state.State) map[string]bool {
	t.Helper()
	tmp := filepath.Join(t.TempDir(), "tmp")
	t.Setenv("TMPDIR", tmp)
	stays := map[string]bool{}
	for _, dir := range []string{"sessions", "gates", "alerts", "scopes", "runs", "budgets", "costs"} {
		must.OK(t, os.MkdirAll(filepath.Join(s.Dir, dir), 0o700))
	}
	put := func(path string, age time.Duration, stay bool) {
		t.Helper()
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil && strings.HasSuffix(path, "/") {
			err = os.WriteFile(filepath.Join(path, "x"), nil, 0o600)
		} else if err == nil {
			err = os.WriteFile(path, nil, 0o600)
		}
		if err == nil {
			at := time.Now().Add(-age)
			err = os.Chtimes(path, at, at)
		}
		must.OK(t, err)
		stays[path] = stay
	}
	for _, name := range []string{"held-1", ".doctor-1", "sessions/.new-1", "gates/api.json.new", "gates/api.json.77.new", "alerts/gh.json.new", "budgets/x.json.new", "costs/x.json", "scopes/a.0.slot", "runs/.asking-1", "runs/boot.1.1.a.asking", "runs/boot.1.1.a.asked"} {
		put(filepath.Join(s.Dir, name), 2*time.Hour, false)
		put(filepath.Join(s.Dir, filepath.Dir(name), strings.Replace(filepath.Base(name), "1", "2", 1)+"fresh"), 0, true)
	}
	for _, name := range []string{"held-2", "sessions/.new-2", "gates/b.json.new", "scopes/b.0.slot"} {
		put(filepath.Join(s.Dir, name), 0, true)
	}
	for _, name := range []string{"other", "log.jsonl", "sessions/claude-" + oneSession + ".json", "gates/api.json.lock", "gates/api.json.damaged", "gates/api.0.slot", "alerts/gh.json", "budgets/x.json", "costs/lock"} {
		put(filepath.Join(s.Dir, name), 100*time.Hour, true)
	}
	for _, name := range []string{"belay-held-1", "belay-hook-1", "belay-alert-1"} {
		put(filepath.Join(tmp, name), 2*time.Hour, false)
		put(filepath.Join(tmp, name+"2"), 0, true)
	}
	put(filepath.Join(tmp, "other"), 100*time.Hour, true)
	put(tmp+"/belay-rehearsal-2/.lock", 25*time.Hour, true)
	put(tmp+"/belay-rehearsal-2/", 25*time.Hour, false)
	delete(stays, tmp+"/belay-rehearsal-2/.lock")
	// A name alone says nothing: these are the user's.
	put(tmp+"/belay-rehearsal-1/", 25*time.Hour, true)
	put(tmp+"/belay-rehearsal-notes/", 25*time.Hour, true)
	for _, path := range []string{filepath.Join(tmp, "belay-held-7"), filepath.Join(tmp, "belay-hook-8"), filepath.Join(s.Dir, "held-7")} {
		put(path, 100*time.Hour, true)
		must.OK(t, os.WriteFile(path, []byte("mine"), 0o600))
		at := time.Now().Add(-100 * time.Hour)
		os.Chtimes(path, at, at)
	}
	put(filepath.Join(tmp, "belay-alert-of-mine"), 100*time.Hour, true)
	put(tmp+"/belay-rehearsal-x", 25*time.Hour, true) // not a directory
	return stays
}

func check(t *testing.T, stays map[string]bool) {
	t.Helper()
	for _, path := range slices.Sorted(maps.Keys(stays)) {
		if _, err := os.Lstat(path); (err == nil) != stays[path] {
			t.Errorf("%s: %v; is to stay: %v", path, err, stays[path])
		}
	}
}

// What killed processes have left goes once it is old, and nothing else does.
func TestState_Sweep(t *testing.T) {
	s := opened(t)
	stays := litter(t, s)
	s.Sweep()
	check(t, stays)
	s.Sweep()
	check(t, stays)
}

// It also goes when the run of a killed process is put on record.
func TestState_SweepAfterAKill(t *testing.T) {
	s := opened(t)
	s.Sweep()
	stays := litter(t, s)
	writeDeadRecord(t, s, supervise.Record{Command: "tool", State: supervise.StateRunning}, false)
	s.ReportKilled()
	check(t, stays)
}

// A sweep takes place once an hour, whatever is at the place of the file that tells when.
func TestState_SweepInterval(t *testing.T) {
	s := opened(t)
	path, stamp := filepath.Join(s.Dir, "held-1"), filepath.Join(s.Dir, ".swept")
	swept := func() bool {
		t.Helper()
		must.OK(t, os.WriteFile(path, nil, 0o600))
		old := time.Now().Add(-2 * time.Hour)
		os.Chtimes(path, old, old)
		s.Sweep()
		_, err := os.Lstat(path)
		return err != nil
	}
	for i, want := range []bool{true, false, false} {
		if swept() != want {
			t.Errorf("%d: swept %v", i, !want)
		}
	}
	for _, age := range []time.Duration{61 * time.Minute, -61 * time.Minute} { // the clock may have been set back
		at := time.Now().Add(-age)
		os.Chtimes(stamp, at, at)
		if !swept() || swept() {
			t.Errorf("not swept once after %v", age)
		}
	}
	other := filepath.Join(t.TempDir(), "other")
	os.WriteFile(other, []byte("other"), 0o600)
	old := time.Now().Add(-2 * time.Hour)
	os.Chtimes(other, old, old)
	os.Remove(stamp)
	must.OK(t, os.Symlink(other, stamp))
	s.Sweep()
	if data, _ := os.ReadFile(other); string(data) != "other" {
		t.Errorf("written through the link: %q", data)
	}
}

// What is in use stays, however old it is: the slot of a scope that is held, and the directory of a rehearsal.
func TestState_SweepInUse(t *testing.T) {
	s := opened(t)
	t.Setenv("TMPDIR", t.TempDir())
	slot, err := s.Scopes().Take("one", 1, "holder")
	must.OK(t, err)
	dir := filepath.Join(os.TempDir(), "belay-rehearsal-1")
	must.OK(t, os.Mkdir(dir, 0o700))
	lock, err := flock.Open(filepath.Join(dir, ".lock"))
	if err == nil {
		_, err = flock.Try(lock, flock.Exclusive)
	}
	must.OK(t, err)
	slots, _ := filepath.Glob(filepath.Join(s.Scopes().Dir, "*"))
	sweep := func() {
		old := time.Now().Add(-48 * time.Hour)
		for _, path := range append(slots, dir) {
			os.Chtimes(path, old, old)
		}
		os.Remove(filepath.Join(s.Dir, ".swept"))
		s.Sweep()
	}
	sweep()
	if _, err := s.Scopes().Take("one", 1, "another"); err != gate.ErrFull || len(slots) != 1 {
		t.Errorf("the scope that was held: %v, %v", err, slots)
	}
	check(t, map[string]bool{dir: true, slots[0]: true})
	lock.Close()
	sweep()
	check(t, map[string]bool{dir: false, slots[0]: true})
	slot.Free()
	if left, _ := fs.ReadDir(os.DirFS(s.Scopes().Dir), "."); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// A directory that a link leads to is not swept.
func TestState_SweepThroughLinks(t *testing.T) {
	s := opened(t)
	elsewhere := t.TempDir()
	path := filepath.Join(elsewhere, ".new-1")
	must.OK(t, os.WriteFile(path, nil, 0o600))
	old := time.Now().Add(-2 * time.Hour)
	os.Chtimes(path, old, old)
	must.OK(t, os.Symlink(elsewhere, filepath.Join(s.Dir, "sessions")))
	s.Sweep()
	check(t, map[string]bool{path: true})
}
