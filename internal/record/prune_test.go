package record_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/record/logfile"
	"github.com/belay-run/belay/internal/test/must"
)

func (w *world) prune(d *record.DB, before time.Time, dry bool) record.Pruned {
	w.Helper()
	p, err := d.Prune(ctx, before, dry)
	if err != nil {
		w.Fatal(err)
	}
	return p
}

// old makes files look as if they had been written then.
func (w *world) old(at time.Time, names ...string) {
	w.Helper()
	for _, name := range names {
		if err := os.Chtimes(filepath.Join(w.dir, name), at, at); err != nil {
			w.Fatal(err)
		}
	}
}

func TestPrune_Age(t *testing.T) {
	w := newWorld(t)
	w.append(story()...)
	w.append(runs(30, 90)...)
	d, _ := w.fold()
	before := t0.Add(time.Hour)
	dry := w.prune(d, before, true)
	w.expect("65", "SELECT count(*) FROM invocations")
	p := w.prune(d, before, false)
	if p.Invocations != 35 || p.Rows != dry.Rows || dry.Invocations != 35 {
		t.Errorf("%+v, dry %+v", p, dry)
	}
	w.expect("30|run-000060", "SELECT count(*), min(id) FROM invocations")
	w.expect("30", "SELECT count(*) FROM attempts")
	w.expect("0", "SELECT count(*) FROM events")
	w.expect("30", "SELECT sum(ended) FROM rollup")
	// A later fold does not add the pruned rows again.
	d.Fold(ctx)
	w.expect("30", "SELECT count(*) FROM invocations")
}

// The log is moved aside, and removed when no process can write to it any more and all of it has been folded.
func TestPrune_Logs(t *testing.T) {
	w := newWorld(t)
	w.append(runs(0, 20)...)
	d, _ := w.fold()
	later := time.Now()
	p := w.prune(d, later, false)
	if p.Rotated == "" || len(p.Logs) != 0 {
		t.Fatalf("%+v", p)
	}
	if _, err := os.Stat(w.log()); err == nil {
		t.Error("the log is still there")
	}
	// A writer that had it open writes one more line; until that is folded, it stays.
	w.append(runs(20, 22)...)
	data, _ := os.ReadFile(w.log())
	os.Remove(w.log())
	moved := filepath.Join(w.dir, p.Rotated)
	f, _ := os.OpenFile(moved, os.O_APPEND|os.O_WRONLY, 0)
	f.Write(data)
	f.Close()
	w.old(t0, p.Rotated)
	if p := w.prune(d, later, false); len(p.Logs) != 0 {
		t.Errorf("removed what was not folded: %+v", p)
	}
	if sum, err := d.Fold(ctx); err != nil || sum.Lines != 2 {
		t.Errorf("%+v, %v", sum, err)
	}
	if p := w.prune(d, t0.Add(-time.Hour), false); len(p.Logs) != 0 {
		t.Errorf("removed what is not old: %+v", p)
	}
	w.old(time.Now(), p.Rotated)
	if p := w.prune(d, time.Now().Add(-time.Second), false); len(p.Logs) != 0 {
		t.Errorf("removed what has just been written: %+v", p)
	}
	w.old(t0, p.Rotated)
	if p := w.prune(d, later, false); len(p.Logs) != 1 {
		t.Errorf("not removed: %+v", p)
	}
	if left, _ := filepath.Glob(w.log() + "*"); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestPrune_SessionFiles(t *testing.T) {
	w := newWorld(t)
	must.OK(t, os.MkdirAll(filepath.Join(w.dir, "sessions"), 0o700))
	for name, text := range map[string]string{"claude-a.json": `{"profile":"claude","id":"a"}`, "claude-b.json": `{"profile":"claude","id":"b"}`, "claude-notes.json": "{}", "notes.txt": "mine"} {
		must.OK(t, os.WriteFile(filepath.Join(w.dir, "sessions", name), []byte(text), 0o600))
	}
	w.old(t0, "sessions/claude-a.json")
	w.old(t0, "sessions/claude-notes.json") // these two are not what Belay writes
	w.old(t0, "sessions/notes.txt")
	d := w.open()
	if p := w.prune(d, t0.Add(time.Hour), false); p.Sessions != 1 {
		t.Errorf("%+v", p)
	}
	left, _ := filepath.Glob(filepath.Join(w.dir, "sessions", "*"))
	if len(left) != 3 || !strings.HasSuffix(left[0], "claude-b.json") {
		t.Errorf("left: %v", left)
	}
}

func TestPrune_Size(t *testing.T) {
	w := newWorld(t)
	w.append(runs(0, 3000)...)
	d, _ := w.fold()
	info, _ := os.Stat(filepath.Join(w.dir, record.Name))
	logInfo, _ := os.Stat(w.log())
	all := info.Size() + logInfo.Size()
	if before, err := d.Before(ctx, 10*all); err != nil || !before.IsZero() {
		t.Errorf("%v, %v", before, err)
	}
	before, err := d.Before(ctx, all/2)
	must.OK(t, err)
	if part := before.Sub(t0); part < 20*time.Hour || part > 40*time.Hour { // of fifty
		t.Errorf("before %v", part)
	}
	p := w.prune(d, before, false)
	if p.Bytes == 0 {
		t.Errorf("%+v", p)
	}
}

// A log that was moved aside stays until the fleet has it, on a machine that is a member of one.
func TestPrune_NotShipped(t *testing.T) {
	w := newWorld(t)
	w.append(runs(0, 3)...)
	d, _ := w.fold()
	later := t0.Add(time.Hour)
	rotated := w.prune(d, later, false).Rotated
	w.old(t0, rotated)
	files, _, err := logfile.Files(w.dir)
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	defer files[0].Close()
	for _, c := range []struct {
		shipped map[string]int64
		removed int
	}{{map[string]int64{}, 0}, {map[string]int64{files[0].Identity(): files[0].Size() - 1}, 0}, {map[string]int64{files[0].Identity(): files[0].Size()}, 1}} {
		must.OK(t, logfile.WriteShipped(w.dir, c.shipped))
		if p := w.prune(d, later, true); len(p.Logs) != c.removed {
			t.Errorf("%v: %+v", c.shipped, p)
		}
	}
	must.OK(t, logfile.WriteShipped(w.dir, nil))
	w.old(time.Now().AddDate(0, -2, 0), "fleet/shipped.json") // it was a member once
	if p := w.prune(d, later, false); len(p.Logs) != 1 {
		t.Errorf("%+v", p)
	}
}
