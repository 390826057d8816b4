package spool

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
)

// created makes a spool that this process writes.
func created(t *testing.T, id string) (Files, *Writer) {
	t.Helper()
	files := Files{Dir: filepath.Join(t.TempDir(), "spool")}
	must.OK(t, files.Create(Header{ID: id, Command: "claude", Started: time.Now()}))
	w, err := files.Adopt(id)
	must.OK(t, err)
	return files, w
}

// What one process writes another one reads, until the end, also once the spool was removed.
func TestSpool_Delivers(t *testing.T) {
	files, w := created(t, "one")
	r, err := files.Open("one")
	must.OK(t, err)
	defer r.Close()
	io.WriteString(w.Stdout, "answer\n")
	io.WriteString(w.Stderr, "progress\n")
	if h, err := r.Header(); err != nil || h.Over() || h.Killed() || h.Command != "claude" {
		t.Errorf("%+v, %v", h, err)
	}
	if err := w.Finish(7); err != nil {
		t.Error(err)
	}
	if err := files.Remove("one"); err != nil {
		t.Error(err)
	}
	stdout, _ := io.ReadAll(r.Stdout)
	stderr, _ := io.ReadAll(r.Stderr)
	h, err := r.Header()
	if err != nil || !h.Over() || h.Killed() || h.ExitCode != 7 || string(stdout) != "answer\n" || string(stderr) != "progress\n" {
		t.Errorf("%+v, %v, %q, %q", h, err, stdout, stderr)
	}
	if left, _ := os.ReadDir(files.Dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Output that finds no room is counted, and the writer of it notices nothing.
func TestSpool_FullDisk(t *testing.T) {
	files, w := created(t, "one")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	w.Stdout.(*stream).file = full
	for range 3 {
		if n, err := io.WriteString(w.Stdout, "0123456789"); n != 10 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	told := func() Header {
		list, err := files.List()
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		return list[0]
	}
	if h := told(); h.LostStdout != 10 { // at once, should the run be killed
		t.Errorf("%+v", h)
	}
	w.Finish(0)
	if h := told(); h.LostStdout != 30 || h.LostStderr != 0 || h.Trouble != "no space left on device" {
		t.Errorf("%+v", h)
	}
}

// The header has one size from its beginning to its end, so that a full disk has room for it.
func TestSpool_HeaderKeepsItsSize(t *testing.T) {
	files, w := created(t, "one")
	w.header.Trouble = strings.Repeat("x", 200)
	w.Finish(255)
	if info, err := os.Stat(filepath.Join(files.Dir, "one.json")); err != nil || info.Size() != headerSize {
		t.Errorf("%v, %v", info.Size(), err)
	}
}

// Old output goes, that of a run under way stays, and so does what is not old.
func TestSpool_Prune(t *testing.T) {
	files, w := created(t, "one")
	must.OK(t, files.Create(Header{ID: "two", Command: "make"}))
	io.WriteString(w.Stdout, "answer\n")
	now := time.Now()
	if n, _ := files.Prune(now.Add(time.Hour), false); n != 0 {
		t.Errorf("%d of runs under way", n)
	}
	w.Finish(0)
	if n, _ := files.Prune(now.Add(-time.Hour), false); n != 0 {
		t.Errorf("%d that are not old", n)
	}
	if n, size := files.Prune(now.Add(time.Hour), true); n != 1 || size != headerSize+7 {
		t.Errorf("would remove %d of %d bytes", n, size)
	}
	if n, _ := files.Prune(now.Add(time.Hour), false); n != 1 {
		t.Errorf("removed %d", n)
	}
	if list, _ := files.List(); len(list) != 1 || list[0].ID != "two" {
		t.Errorf("%+v", list)
	}
}

// What is no header says nothing, whatever is in it, and is removed when it is old.
func FuzzHeader(f *testing.F) {
	for _, text := range []string{"", "{}", `{"id":"one"}`, `{"id":"two"}`, `{"id":"one","owner":{"pid":-1}}`, `{"id":"one","ended":"x"}`, "{", "\x00"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		files := Files{Dir: t.TempDir()}
		must.OK(t, os.WriteFile(filepath.Join(files.Dir, "one.json"), text, 0o600))
		list, err := files.List()
		if err != nil || len(list) > 1 || len(list) == 1 && list[0].ID != "one" {
			t.Errorf("%+v, %v", list, err)
		}
		for i := range list {
			list[i].Over()
		}
		if n, _ := files.Prune(time.Now().Add(time.Hour), true); len(list) == 0 && n != 1 {
			t.Errorf("%q would stay", text)
		}
	})
}
