//go:build unix

package gate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/gatetest"
	"github.com/belay-run/belay/internal/test/must"
)

// put writes a state of a key that is not healthy.
func put(t testing.TB, files *gate.Files, key string) {
	t.Helper()
	err := files.Update(key, time.Now(), func(s gate.State) gate.State {
		s.Breaker.Failures = 1
		return s
	})
	must.OK(t, err)
}

// names are the files of a directory.
func names(t testing.TB, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must.OK(t, err)
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

// Eight processes make a hundred updates each, and none is lost.
func TestFiles_ManyProcesses(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state", "gates")
	var processes []*process
	for range 8 {
		processes = append(processes, begin(t, dir, "count", "100"))
	}
	for _, p := range processes {
		p.expect("ready")
	}
	for _, p := range processes {
		p.proceed()
	}
	for _, p := range processes {
		p.ends()
	}
	state, err := (&gate.Files{Dir: dir}).Load("api")
	if err != nil || state.Breaker.Failures != 800 {
		t.Errorf("%d updates of 800 are left, %v", state.Breaker.Failures, err)
	}
	equal(t, "files", names(t, dir), "api.json api.json.lock")
}

// A reader sees the state before or after an update, never half of one.
func TestFiles_ReadersOfOtherProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := &gate.Files{Dir: dir}
	writers := []*process{begin(t, dir, "write"), begin(t, dir, "write")}
	for _, w := range writers {
		w.expect("ready")
	}
	const states = 300 // that are seen at least
	seen := map[int]bool{}
	for late := time.Now().Add(testTimeout); len(seen) < states && time.Now().Before(late); {
		s, err := files.Load("api")
		must.OK(t, err)
		n := s.Breaker.Failures
		seen[n] = true
		if len(s.Hold.Reason) != n%7*25 || len(s.Ramp.Starts) != n%11 {
			t.Fatalf("half an update: %s", show(s))
		}
		if list, err := files.List(); err != nil || len(list) > 1 {
			t.Fatalf("%+v, %v", list, err)
		}
	}
	if len(seen) < states {
		t.Errorf("only %d different states were seen", len(seen))
	}
}

// A process that holds the lock while stopped, by a debugger or a Ctrl-Z, does not block the others: reading goes
// on, and an update is given up after two seconds.
func TestFiles_LockHolderIsStopped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := &gate.Files{Dir: dir}
	put(t, files, "api")
	p := begin(t, dir, "lock")
	p.expect("locked")
	p.signal(syscall.SIGSTOP)
	if s, err := files.Load("api"); err != nil || s.Breaker.Failures != 1 {
		t.Errorf("%s, %v", show(s), err)
	}
	put(t, files, "other") // another key has another lock
	var troubles []error
	g := &gate.Gate{Store: files, Key: "api", Trouble: func(err error) { troubles = append(troubles, err) }}
	begun := time.Now()
	pass, refusal := g.Enter("a")
	if refusal != nil {
		t.Fatalf("refused: %+v", refusal)
	}
	pass.Succeeded()
	if took := time.Since(begun); took < 2*time.Second || took > testTimeout {
		t.Errorf("blocked for %v", took)
	}
	if len(troubles) != 1 || !errors.Is(troubles[0], gate.ErrLocked) || !strings.Contains(troubles[0].Error(), "may have been stopped") {
		t.Errorf("troubles: %v", troubles)
	}
	p.signal(syscall.SIGCONT)
	p.proceed()
	p.ends()
	updates(t, dir)
}

// A file system without locks loses an update now and then, and nothing else.
func TestFiles_WithoutLocks(t *testing.T) {
	dir := t.TempDir()
	files := gate.FilesWithoutLocks(dir)
	for range 5 {
		put(t, files, "api")
	}
	if s, err := files.Load("api"); err != nil || s.Breaker.Failures != 1 {
		t.Errorf("%s, %v", show(s), err)
	}
	equal(t, "files", names(t, dir), "api.json api.json.lock")
	broken := gate.FilesWithBrokenLocks(dir)
	err := broken.Update("api", time.Now(), func(s gate.State) gate.State { return s })
	if err == nil || !strings.Contains(err.Error(), "api.json.lock cannot be locked: ") {
		t.Errorf("broken locks: %v", err)
	}
}

func TestFiles_Permissions(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir := filepath.Join(t.TempDir(), "state", "gates")
	files := &gate.Files{Dir: dir}
	put(t, files, "api")
	os.WriteFile(filepath.Join(dir, "broken.json"), []byte("x"), 0o600)
	files.Load("broken")
	slot, err := gate.Slots{Dir: dir}.Take("api", 1, "me")
	must.OK(t, err)
	defer slot.Free()
	for _, path := range []string{dir, filepath.Dir(dir)} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < 4 {
		t.Fatal(names(t, dir), err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", e.Name(), info.Mode(), err)
		}
	}
}

// No key leads out of the directory, into another's file, or to a name that a file system would not take.
func TestFiles_Names(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "gates")
	files := &gate.Files{Dir: dir}
	seen := map[string]string{}
	for _, key := range append(gatetest.Keys(), "\xff", "\xfe", "a\xff", strings.Repeat("/", 300), strings.Repeat("\x00", 5)) {
		put(t, files, key)
		slot, err := gate.Slots{Dir: dir}.Take(key, 1, "me")
		if err != nil {
			t.Errorf("%q: %v", key, err)
		}
		slot.Free()
	}
	equal(t, "parent", names(t, parent), "gates")
	for name := range strings.FieldsSeq(names(t, dir)) {
		if len(name) > 100 || strings.HasPrefix(name, ".") || strings.ToLower(name) != name {
			t.Errorf("a file is called %q", name)
		}
		if other := seen[strings.ToLower(name)]; other != "" {
			t.Errorf("%q and %q", name, other)
		}
		seen[strings.ToLower(name)] = name
	}
	if want := 3 * (len(gatetest.Keys()) + 5); len(seen) != want {
		t.Errorf("%d files, want %d", len(seen), want)
	}
	if !strings.Contains(names(t, dir), "api.json ") {
		t.Error("a plain key is not its own name")
	}
}

// The largest state that there is can be read back.
func TestFiles_LargestState(t *testing.T) {
	files := &gate.Files{Dir: t.TempDir()}
	err := files.Update("api", time.Now(), func(s gate.State) gate.State {
		s.Breaker.Failures = 1
		for i := range 1000 {
			s.Ramp.Starts = append(s.Ramp.Starts, gate.Start{Holder: fmt.Sprintf("019a85c0-0000-7000-8000-%012d/1", i), Expires: time.Now()})
		}
		return s
	})
	must.OK(t, err)
	if s, err := files.Load("api"); err != nil || len(s.Ramp.Starts) != 1000 {
		t.Errorf("%d starts, %v", len(s.Ramp.Starts), err)
	}
}

// A directory whose name is a pattern is only a directory.
func TestFiles_DirectoryIsNoPattern(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[a-z]*?\\")
	files := &gate.Files{Dir: dir}
	put(t, files, "api")
	if list, err := files.List(); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	slot, err := gate.Slots{Dir: dir}.Take("api", 1, "me")
	must.OK(t, err)
	defer slot.Free()
	equal(t, "holders", fmt.Sprint(gate.Slots{Dir: dir}.Holders("api")), "[me]")
}

// A waiting process polls the same file: it is read once. One that has been replaced is always noticed.
func TestFiles_ReadsAFileOnce(t *testing.T) {
	files := &gate.Files{Dir: t.TempDir()}
	path := filepath.Join(files.Dir, "api.json")
	old := time.Now().Add(-time.Minute)
	write := func(failures int) {
		t.Helper()
		// In place, as only this test does.
		text := fmt.Sprintf(`{"v":1,"key":"api","state":{"breaker":{"failures":%d}}}`, failures)
		must.OK(t, errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, old, old)))
	}
	load := func(key string, want int) {
		t.Helper()
		if s, err := files.Load(key); err != nil || s.Breaker.Failures != want {
			t.Errorf("%s: %s, %v; want %d failures", key, show(s), err, want)
		}
	}
	write(1)
	load("api", 1)
	write(2)
	load("api", 1)

	// Others replace it, and it is no longer there.
	for n := 3; n < 6; n++ {
		err := (&gate.Files{Dir: files.Dir}).Update("api", time.Now(), func(s gate.State) gate.State { s.Breaker.Failures = n; return s })
		must.OK(t, err)
		load("api", n)
	}
	put(t, &gate.Files{Dir: files.Dir}, "other")
	load("other", 1)
	load("api", 5)
	os.Remove(path)
	load("api", 0)
}

// A version that knows nothing of callers reads the file, and drops them when it writes. Nothing is lost: what it counts
// counts, and a caller that it has come between counts again.
func TestFiles_BesideAnOlderVersion(t *testing.T) {
	files := &gate.Files{Dir: t.TempDir()}
	path := filepath.Join(files.Dir, "api.json")
	older := func() {
		t.Helper()
		data, err := os.ReadFile(path)
		must.OK(t, err)
		var c struct {
			V     int    `json:"v"`
			Key   string `json:"key"`
			State struct {
				Breaker struct {
					Failures int    `json:"failures"`
					Reason   string `json:"reason"`
				} `json:"breaker"`
			} `json:"state"`
		}
		must.OK(t, json.Unmarshal(data, &c))
		c.State.Breaker.Failures++
		if data, err = json.Marshal(c); err != nil {
			t.Fatal(err)
		}
		must.OK(t, os.WriteFile(path, data, 0o600))
	}
	newer := &gate.Gate{Store: files, Key: "api", Caller: "a", Trouble: func(err error) { t.Error(err) }}
	failures := func() int {
		s, err := files.Load("api")
		must.OK(t, err)
		return s.Breaker.Failures
	}
	enter(t, newer, "a/1").Failed("network")
	enter(t, newer, "a/2").Failed("network")
	equal(t, "failures", failures(), 1)
	older()
	equal(t, "failures, the older one's with them", failures(), 2)
	enter(t, newer, "a/3").Failed("network")
	enter(t, newer, "a/4").Failed("network")
	equal(t, "failures, ours once more", failures(), 3)
	older()
	enter(t, newer, "a/5").Failed("network")
	if _, refusal := newer.Enter("a/6"); refusal == nil || refusal.Kind != "breaker" {
		t.Errorf("after five: %+v", refusal)
	}
}
