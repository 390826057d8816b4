//go:build linux

package supervise_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

func create(t testing.TB, r supervise.Records, rec supervise.Record) *supervise.Record {
	t.Helper()
	made, err := r.Create(rec)
	must.OK(t, err)
	return made
}

func list(t testing.TB, r supervise.Records) []supervise.Record {
	t.Helper()
	runs, err := r.List()
	must.OK(t, err)
	return runs
}

// names are the files in a directory.
func names(t testing.TB, dir string) (found []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must.OK(t, err)
	for _, e := range entries {
		found = append(found, e.Name())
	}
	return found
}

func TestRecords_Life(t *testing.T) {
	t.Parallel()
	for name, rec := range map[string]supervise.Record{
		"Plain":  {ID: "a-1", Command: "claude", Profile: "claude", Attempt: 1},
		"Quoted": {ID: "a-2", Command: `say "hi\"` + "\n", Profile: "", Attempt: 1},
		"Again":  {ID: "a-3", Command: "größer", Profile: "x", Attempt: 3},
		"Until":  {ID: "a-4", Command: "gh", Attempt: 1, Until: time.Now().UTC()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := supervise.Records{Dir: t.TempDir()}
			rec.Started = time.Now().UTC()
			made := create(t, r, rec)
			got := list(t, r)
			if len(got) != 1 || got[0].ID != rec.ID || got[0].Command != rec.Command || got[0].Profile != rec.Profile ||
				got[0].Attempt != rec.Attempt || !got[0].Started.Equal(rec.Started) || !got[0].Until.Equal(rec.Until) {
				t.Fatalf("%+v, want %+v", got, rec)
			}
			if got[0].State != supervise.StateRunning || got[0].Owner.PID != os.Getpid() || !got[0].Owner.Alive() {
				t.Errorf("%+v", got[0])
			}
			info, err := os.Stat(filepath.Join(r.Dir, names(t, r.Dir)[0]))
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info.Mode(), err)
			}

			made.State, made.Reason, made.Until = supervise.StateWaiting, "rate limit", rec.Started.Add(time.Hour)
			must.OK(t, made.Update())
			if got := list(t, r); len(got) != 1 || got[0].State != supervise.StateWaiting || got[0].Reason != "rate limit" ||
				!got[0].Until.Equal(made.Until) || got[0].Owner != made.Owner {
				t.Errorf("%+v", got)
			}
			if err := made.Remove(); err != nil {
				t.Error(err)
			}
			if left := names(t, r.Dir); len(left) != 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

func TestRecords_Refused(t *testing.T) {
	t.Parallel()
	r := supervise.Records{Dir: t.TempDir()}
	for _, id := range []string{"", "a.b", "../a", "a,b", "a\x00"} {
		if _, err := r.Create(supervise.Record{ID: id}); err == nil {
			t.Errorf("%q is taken", id)
		}
	}
	rec := create(t, r, supervise.Record{ID: "a"})
	if _, err := r.Create(supervise.Record{ID: "a"}); !os.IsExist(err) {
		t.Errorf("created twice: %v", err)
	}
	must.OK(t, os.RemoveAll(r.Dir))
	if _, err := r.Create(supervise.Record{ID: "b"}); !os.IsNotExist(err) {
		t.Errorf("created in a directory that is not there: %v", err)
	}
	if err := rec.Update(); !os.IsNotExist(err) {
		t.Errorf("updated: %v", err)
	}
	if err := rec.Remove(); !os.IsNotExist(err) {
		t.Errorf("removed: %v", err)
	}
	if got := list(t, r); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	var none *supervise.Record
	if none.Update() != nil || none.Remove() != nil {
		t.Error("nobody's record has failed")
	}
}

// What is in the way of an update (a directory, say) leaves the old record, and nothing beside it.
func TestRecords_UpdateFails(t *testing.T) {
	t.Parallel()
	r := supervise.Records{Dir: t.TempDir()}
	rec := create(t, r, supervise.Record{ID: "a"})
	path := filepath.Join(r.Dir, names(t, r.Dir)[0])
	os.Remove(path)
	os.Mkdir(path, 0o700)
	if err := rec.Update(); err == nil {
		t.Error("a directory was replaced")
	}
	if left := names(t, r.Dir); len(left) != 1 {
		t.Errorf("left: %q", left)
	}
	if got := list(t, r); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestRecords_OldestFirst(t *testing.T) {
	t.Parallel()
	r := supervise.Records{Dir: t.TempDir()}
	now := time.Now()
	for i, id := range []string{"d", "b", "c", "a"} {
		create(t, r, supervise.Record{ID: id, Started: now.Add(time.Duration(i/2) * time.Second)})
	}
	var ids string
	for _, rec := range list(t, r) {
		ids += rec.ID
	}
	if ids != "bdac" {
		t.Errorf("%s, want bdac", ids)
	}
}

// What `belay ps --json` shows is what is written.
func TestRecord_JSON(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(supervise.Record{ID: "a", Command: "c", State: supervise.StateRunning})
	if err != nil || string(data) != `{"id":"a","command":"c","started":"0001-01-01T00:00:00Z","state":"running"}` {
		t.Errorf("%s, %v", data, err)
	}
}

func TestRecords_Unreadable(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	must.OK(t, os.WriteFile(file, nil, 0o600))
	r := supervise.Records{Dir: file}
	if _, err := r.List(); err == nil {
		t.Error("a file was listed")
	}
	if _, err := r.Reclaim(); err == nil {
		t.Error("a file was reclaimed")
	}
}
