package batch

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
)

func TestRegistry(t *testing.T) {
	r := Registry{Dir: filepath.Join(t.TempDir(), "batches")}
	if list, err := r.List(); err != nil || len(list) > 0 {
		t.Fatalf("%v, %v", list, err)
	}
	dir := t.TempDir()
	at := time.Date(2026, 11, 17, 3, 0, 0, 0, time.UTC)
	for i, name := range []string{"a", "b", "c"} {
		e := Entry{Results: filepath.Join(dir, name), Tasks: "tasks.txt", Dir: dir, Started: at.Add(time.Duration(i) * time.Hour), Retry: "belay batch"}
		must.OK(t, os.WriteFile(e.Results, nil, 0o600))
		must.OK(t, r.Note(e))
	}
	// One that is started again comes first, one whose results are gone is forgotten, and what cannot be read is passed over.
	must.OK(t, r.Note(Entry{Results: filepath.Join(dir, "a"), Started: at.Add(9 * time.Hour)}))
	os.Remove(filepath.Join(dir, "b"))
	os.WriteFile(filepath.Join(r.Dir, "torn.json"), []byte(`{"results":"/x`), 0o600)
	list, err := r.List()
	if err != nil || len(list) != 2 || filepath.Base(list[0].Results) != "a" || filepath.Base(list[1].Results) != "c" || list[1].Retry != "belay batch" {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := os.Stat(r.path(filepath.Join(dir, "b"))); err == nil {
		t.Error("what is gone is remembered")
	}
}

// Of very many batches, those that were started last are remembered.
func TestRegistry_ForgetsTheOldest(t *testing.T) {
	r := Registry{Dir: filepath.Join(t.TempDir(), "batches")}
	results := func(i int) string { return filepath.Join(t.TempDir(), strconv.Itoa(i)) }
	must.OK(t, os.MkdirAll(r.Dir, 0o700))
	mine := filepath.Join(r.Dir, "mine.json") // which no batch has written, and stays
	must.OK(t, os.WriteFile(mine, []byte(`{"results":"of the season"}`), 0o600))
	os.Chtimes(mine, time.Unix(0, 0), time.Unix(0, 0))
	var first, last string
	for i := range mostNoted + 3 {
		if last = results(i); i == 0 {
			first = last
		}
		must.OK(t, r.Note(Entry{Results: last, Started: time.Now()}))
		at := time.Now().Add(time.Duration(i-1000) * time.Minute)
		must.OK(t, os.Chtimes(r.path(last), at, at))
	}
	names, err := os.ReadDir(r.Dir)
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
	if err != nil || len(names) != mostNoted+1 {
		t.Errorf("%d are remembered, %v", len(names), err)
	}
	if _, err := os.Stat(r.path(first)); err == nil {
		t.Error("the oldest is remembered")
	}
	if _, err := os.Stat(r.path(last)); err != nil {
		t.Error(err)
	}
}
