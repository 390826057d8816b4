package supervise_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

func init() {
	// reporting reports killed runs into a file, one line each.
	helpers["reporting"] = func(args []string) {
		r := supervise.Records{Dir: args[0], Killed: func(rec supervise.Record) bool {
			f, err := os.OpenFile(args[1], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				return false
			}
			defer f.Close()
			_, err = fmt.Fprintf(f, "%s %s %s\n", rec.ID, rec.Command, rec.Session)
			return err == nil
		}}
		var err error
		if args[2] == "reclaim" {
			_, err = r.Reclaim()
		} else {
			_, _, err = r.ReportKilled()
		}
		if err != nil {
			panic(err)
		}
	}
}

// writeDeadRecord writes the record of a run whose owner is dead, with that content.
func writeDeadRecord(t *testing.T, dir, id, content string) {
	t.Helper()
	r := supervise.Records{Dir: dir}
	create(t, r, supervise.Record{ID: id, Started: time.Now(), Attempt: 1})
	paths, _ := filepath.Glob(filepath.Join(dir, "*."+id))
	part := strings.Split(filepath.Base(paths[0]), ".") // boot, pid, start, id: a pid that was given to another one
	dead := filepath.Join(dir, strings.Join([]string{part[0], part[1], part[2] + "1", id}, "."))
	must.OK(t, os.Rename(paths[0], dead))
	must.OK(t, os.WriteFile(dead, []byte(content), 0o600))
}

// However many find dead owners' runs at the same time, each run is told of once, and its record goes.
func TestReportKilled_Once(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "told")
	want := map[string]bool{}
	for i := range 50 {
		id := fmt.Sprint("run-", i)
		writeDeadRecord(t, dir, id, fmt.Sprintf(`{"id":%q,"command":"claude","started":"2026-11-15T12:00:00Z","state":"running","session_id":"s%d"}`, id, i))
		want[fmt.Sprintf("%s claude s%d", id, i)] = true
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if err := helper("reporting", dir, out, []string{"reclaim", "report"}[i%2]).Run(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	told, _ := os.ReadFile(out)
	for line := range strings.Lines(string(told)) {
		if line = strings.TrimSuffix(line, "\n"); !want[line] {
			t.Errorf("told of %q, unexpectedly or twice", line)
		}
		delete(want, line)
	}
	if len(want) > 0 {
		t.Errorf("not told of: %v", want)
	}
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// Records as earlier versions wrote them, torn ones, and one whose replacement was under way are told of, too.
func TestReportKilled_Contents(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		`{"id":"x","command":"gh","profile":"gh","started":"2026-11-15T12:00:00Z","state":"waiting","attempt":2,"reason":"why","until":"2026-11-15T13:00:00Z"}`: "gh waiting 2 why",
		`{"id":"x","command":"gh","profi`: " 0 ",
		``:                                " 0 ",
		`{"id":"another","command":"gh"}`: " 0 ",
	} {
		dir := t.TempDir()
		writeDeadRecord(t, dir, "x", content)
		must.OK(t, os.WriteFile(filepath.Join(dir, names(t, dir)[0]+".new"), []byte(`{"id":"x","comm`), 0o600))
		var got []string
		r := supervise.Records{Dir: dir, Killed: func(rec supervise.Record) bool {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %d %s", rec.Command, rec.State, rec.Attempt, rec.Reason)))
			return rec.ID == "x" && !rec.Written.IsZero() && len(rec.Left) == 0
		}}
		told, left, err := r.ReportKilled()
		if err != nil || len(told) != 1 || len(left) != 0 || len(got) != 1 || got[0] != strings.TrimSpace(want) {
			t.Errorf("%s: %q, %v, %v, %v", content, got, told, left, err)
		}
		if left := names(t, dir); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	}
}

// What cannot be put on record stays, and is found again.
func TestReportKilled_Later(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeDeadRecord(t, dir, "x", `{"id":"x","command":"gh"}`)
	before := names(t, dir)
	ok := false
	r := supervise.Records{Dir: dir, Killed: func(supervise.Record) bool { return ok }}
	for range 2 {
		if told, left, err := r.ReportKilled(); len(told) != 0 || len(left) != 1 || err != nil {
			t.Errorf("%v, %v, %v", told, left, err)
		}
		if _, err := r.Reclaim(); err != nil {
			t.Error(err)
		}
		if got := names(t, dir); fmt.Sprint(got) != fmt.Sprint(before) {
			t.Errorf("%q, before it was %q", got, before)
		}
	}
	ok = true
	if told, left, err := r.ReportKilled(); len(told) != 1 || len(left) != 0 || err != nil {
		t.Errorf("%v, %v, %v", told, left, err)
	}
}

// Its processes are left alone, and Reclaim ends them later without another word.
func TestReportKilled_LeavesProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	id := abandon(t, dir)
	n := 0
	r := supervise.Records{Dir: dir, Killed: func(rec supervise.Record) bool { n++; return len(rec.Left) > 0 }}
	told, left, err := r.ReportKilled()
	if err != nil || len(told) != 1 || len(left) != 1 || n != 1 || len(carriers(id)) == 0 {
		t.Errorf("%v, %v, %v; told %d times, %d processes", told, left, err, n, len(carriers(id)))
	}
	if told, left, _ := r.ReportKilled(); len(told) != 0 || len(left) != 1 {
		t.Errorf("%v, %v", told, left)
	}
	if runs := list(t, r); len(runs) != 0 {
		t.Errorf("%v", runs)
	}
	if ended, err := r.Reclaim(); err != nil || len(ended) == 0 || n != 1 {
		t.Errorf("%v, %v; told %d times", ended, err, n)
	}
	noneLeft(t, id)
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}
