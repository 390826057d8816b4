package record_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/record/database"
	"github.com/belay-run/belay/internal/test/must"
)

// mounted returns a world on a file system of its own.
func mounted(t *testing.T, options string) *world {
	t.Helper()
	w := newWorld(t)
	if err := syscall.Mount("db-test", w.dir, "tmpfs", 0, options); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skipf("cannot mount a file system here: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(w.dir, syscall.MNT_DETACH) })
	return w
}

// A full disk: what was folded can be asked, what was not is still in the log, and is folded when there is room.
func TestFold_FullDisk(t *testing.T) {
	w := mounted(t, "size=1m,mode=700")
	w.append(runs(0, 100)...)
	d, _ := w.fold()
	w.append(runs(100, 200)...)
	filler := filepath.Join(w.dir, "filler")
	f, err := os.Create(filler)
	must.OK(t, err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	f.Close()
	if _, err := d.Fold(ctx); !database.Full(err) {
		t.Errorf("said %v", err)
	}
	if list, err := d.Runs.Invocations(ctx, record.Filter{}); err != nil || len(list) != 100 {
		t.Errorf("%d runs, %v", len(list), err)
	}
	d.Close()
	must.OK(t, os.Remove(filler))
	w.fold()
	w.expect("200", "SELECT count(*) FROM invocations")
	w.expect("ok", "PRAGMA integrity_check")
}

// No room for a database at all: the log is answered from.
func TestOpen_FullDisk(t *testing.T) {
	w := mounted(t, "size=64k,mode=700")
	w.append(runs(0, 20)...)
	for i := range 20 {
		if os.WriteFile(filepath.Join(w.dir, "filler"+string(rune('a'+i))), make([]byte, 4096), 0o600) != nil {
			break
		}
	}
	d, sum := w.fold()
	if list, err := d.Runs.Invocations(ctx, record.Filter{}); err != nil || len(list) != 20 || sum.Lines != 20 {
		t.Errorf("%d runs of %+v, %v", len(list), sum, err)
	}
}

func remount(t *testing.T, w *world, flags uintptr) {
	t.Helper()
	must.OK(t, syscall.Mount("", w.dir, "", syscall.MS_REMOUNT|flags, "size=1m,mode=700"))
}

// Where nothing can be written, what is there is answered from.
func TestOpen_ReadOnly(t *testing.T) {
	t.Run("WithADatabase", func(t *testing.T) {
		w := mounted(t, "size=1m,mode=700")
		w.append(runs(0, 10)...)
		d, _ := w.fold()
		d.Close()
		w.append(runs(10, 12)...)
		remount(t, w, syscall.MS_RDONLY)
		d, _ = w.fold()
		if list, err := d.Runs.Invocations(ctx, record.Filter{}); err != nil || len(list) != 10 {
			t.Errorf("%d runs, %v", len(list), err)
		}
		if len(d.Said) != 1 || !strings.Contains(d.Said[0], "What was logged since") {
			t.Errorf("said %q", d.Said)
		}
		if _, err := d.Prune(ctx, t0, false); err == nil {
			t.Error("it was pruned")
		}
	})
	t.Run("WithoutADatabase", func(t *testing.T) {
		w := mounted(t, "size=1m,mode=700")
		w.append(runs(0, 10)...)
		remount(t, w, syscall.MS_RDONLY)
		d, _ := w.fold()
		if list, err := d.Runs.Invocations(ctx, record.Filter{}); err != nil || len(list) != 10 {
			t.Errorf("%d runs, %v", len(list), err)
		}
	})
	t.Run("WithAWriteAheadLog", func(t *testing.T) {
		w := mounted(t, "size=4m,mode=700")
		w.append(runs(0, 10)...)
		d, _ := w.fold()
		w.append(runs(10, 12)...)
		if _, err := d.Fold(ctx); err != nil {
			t.Fatal(err)
		}
		copied := mounted(t, "size=4m,mode=700") // as a killed process leaves it
		for _, name := range []string{record.Name, record.Name + "-wal", record.Name + "-shm"} {
			data, err := os.ReadFile(filepath.Join(w.dir, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(copied.dir, name), data, 0o600)
			}
			must.OK(t, err)
		}
		remount(t, copied, syscall.MS_RDONLY)
		d, _ = copied.fold()
		if list, err := d.Runs.Invocations(ctx, record.Filter{}); err != nil || len(list) != 12 {
			t.Errorf("%d runs, %v", len(list), err)
		}
	})
}
