//go:build unix

package jobs

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// What was delivered is kept without what the job was given, within bounds, and found by a later process.
func TestFinished_WithinBounds(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "finished", "own") // a directory that the user has put there
	if err := os.MkdirAll(own, 0o700); err != nil {
		t.Fatal(err)
	}
	var f finished
	f.open(filepath.Join(dir, "finished"))
	f.trim(0, 0, 0)
	if err := os.Remove(own); err != nil {
		t.Error(err)
	}
	add := func(digest, data string) {
		t.Helper()
		job := folder{filepath.Join(dir, "1.1")}
		if err := job.make(); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"prompt", "conceal", textPrefix + "m"} {
			if err := job.write(name, []byte("12345")); err != nil {
				t.Fatal(err)
			}
		}
		f.add(job, digest, []byte(data))
		if _, err := os.Stat(job.dir); err == nil {
			t.Error("the folder of the job is left")
		}
	}
	names := func() (list []string) {
		list, _ = filepath.Glob(filepath.Join(dir, "finished", "*"))
		for i := range list {
			list[i] = filepath.Base(list[i])
		}
		return list
	}
	for _, digest := range []string{"a", "b", "c", "d", "b"} {
		add(digest, "result of "+digest)
	}
	if r := f.find("a"); r == nil || string(r.result) != "result of a" || r.text == nil || r.text.mark != "m" {
		t.Errorf("%+v", r)
	}
	if f.find("e") != nil {
		t.Error("what was not delivered is found")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "finished/*/*")); len(left) != 8 {
		t.Errorf("%v", left) // no prompts
	}
	f.trim(3, finishedSize, time.Hour)
	if got := names(); !slices.Equal(got, []string{"a", "b", "d"}) { // a was used last
		t.Errorf("%v", got)
	}
	f.trim(3, f.size-1, time.Hour)
	if got := names(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%v", got)
	}
	past := time.Now().Add(-2 * finishedTime)
	os.Chtimes(f.folder("b").path(reportName), past, past)
	var next finished
	if next.open(f.dir); next.find("a") == nil || next.find("b") != nil || len(names()) != 1 || next.size != f.folder("a").size(reportName)+f.folder("a").size(textPrefix+"m") {
		t.Errorf("%v, %d bytes", names(), next.size)
	}
	os.Remove(next.folder("a").path(reportName))
	if next.find("a") != nil {
		t.Error("a result that is gone is found")
	}
}
