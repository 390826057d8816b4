//go:build unix

package jobs

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/internal/fleet/fleettest"
)

// What was delivered is kept without what the job was given, and found by a later process, which cuts off what a killed one has not finished.
func TestFinished_Found(t *testing.T) {
	dir := t.TempDir()
	fleettest.Put(t, dir, "finished/users/own", "") // that the user has put there
	f := openFinished(dir)
	add := func(digest, text string) {
		t.Helper()
		job := folder{filepath.Join(dir, "1.1")}
		if err := os.Mkdir(job.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"prompt", "conceal"} {
			fleettest.Put(t, job.dir, name, "12345")
		}
		if text != "" {
			fleettest.Put(t, job.dir, textPrefix+text, "12345")
		}
		f.add(job, digest, []byte("result of "+digest))
		job.remove()
	}
	add("a", "m")
	add("b", "")
	check := func() {
		t.Helper()
		if r := f.find("a"); r == nil || string(r.result) != "result of a" || r.text == nil || r.text.mark != "m" {
			t.Errorf("%+v", r)
		} else if data, err := os.ReadFile(r.text.path); string(data) != "12345" {
			t.Error(err)
		}
		if r := f.find("b"); r == nil || string(r.result) != "result of b" || r.text != nil {
			t.Errorf("%+v", r)
		}
		if f.find("e") != nil {
			t.Error("what was not delivered is found")
		}
	}
	check()
	size := f.newer.size
	half, err := os.OpenFile(f.newer.path(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	half.WriteString(`{"payload":"c","res`)
	half.Close()
	if f = openFinished(dir); f.newer.size != size {
		t.Errorf("%d bytes, before %d", f.newer.size, size)
	}
	add("c", "")
	f = openFinished(dir)
	check()
	if f.find("c") == nil {
		t.Error("what came after the half line is lost")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "finished/*/*")); len(left) != 3 { // no prompts
		t.Errorf("%v", left)
	}
	os.Remove(f.newer.path())
	if f.find("a") != nil {
		t.Error("a result that is gone is found")
	}
}

// The last thousand results of a day are there, in at most twice the size. Those of earlier versions count.
func TestFinished_WithinBounds(t *testing.T) {
	dir := t.TempDir()
	fleettest.Put(t, dir, "finished/old/report", "result of old")
	fleettest.Put(t, dir, "finished/old/"+textPrefix+"m", "12345")
	synctest.Test(t, func(t *testing.T) {
		f := openFinished(dir)
		has := func(digests ...string) {
			t.Helper()
			for _, digest := range digests {
				if f.find(digest) == nil {
					t.Errorf("%s is lost", digest)
				}
			}
		}
		lacks := func(digest string) {
			t.Helper()
			if f.find(digest) != nil {
				t.Errorf("%s is still there", digest)
			}
		}
		job := folder{filepath.Join(dir, "1.1")}
		add := func(digest string, size int) { f.add(job, digest, make([]byte, size)) }
		has("old")
		if _, err := os.Stat(filepath.Join(dir, "finished/old")); err == nil {
			t.Error("the folder of the earlier version is left")
		}
		for i := range finishedMost {
			add(fmt.Sprint(i), 10)
		}
		has("old", "0", "999")
		f = openFinished(dir)
		for i := range finishedMost {
			add(fmt.Sprint(finishedMost+i), 10)
		}
		has("999", "1999")
		lacks("old")
		fleettest.Put(t, job.dir, textPrefix+"m", "")
		if err := os.Truncate(job.path(textPrefix+"m"), finishedSize-2); err != nil {
			t.Fatal(err)
		}
		add("large", 1)
		has("1999", "large")
		add("too large", finishedSize+1)
		lacks("too large")
		add("x", 10)
		has("large", "x")
		lacks("1999")
		time.Sleep(finishedTime + time.Second)
		add("y", 10)
		has("x", "y")
		lacks("large")
	})
}

func openFinished(dir string) *finished {
	var f finished
	f.open(filepath.Join(dir, "finished"))
	return &f
}
