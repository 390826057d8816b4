package gate_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/test/must"
)

func TestFiles_Watch(t *testing.T) {
	t.Parallel()
	files := &gate.Files{Dir: t.TempDir()}
	changed, stop, err := files.Watch("api")
	must.OK(t, err)
	told := func(what string) {
		t.Helper()
		select {
		case <-changed:
		case <-time.After(testTimeout):
			t.Fatalf("not told of %s", what)
		}
		for { // some are two events
			select {
			case <-changed:
				continue
			case <-time.After(500 * time.Millisecond):
			}
			return
		}
	}
	quiet := func(what string) {
		t.Helper()
		select {
		case <-changed:
			t.Errorf("told of %s", what)
		case <-time.After(100 * time.Millisecond):
		}
	}
	quiet("nothing")
	put(t, files, "api")
	told("a new state")
	put(t, files, "api")
	quiet("an update that changes nothing")
	put(t, files, "api2")
	put(t, files, "another")
	files.Load("api")
	files.List()
	quiet("other keys and readers")
	now := time.Now()
	for range 3 {
		check(files.Update("api", now, func(s gate.State) gate.State { return s.Held(now, now.Add(time.Hour), "x") }))
	}
	told("a hold")
	check(files.Update("api", now, func(s gate.State) gate.State { return s.Reset(now) }))
	told("a reset")
	put(t, files, "api")
	told("a new state")
	must.OK(t, os.WriteFile(filepath.Join(files.Dir, "api.json"), []byte("x"), 0o600))
	files.Load("api")
	told("a damaged file that was set aside")
	writer := begin(t, files.Dir, "write")
	writer.expect("ready")
	<-changed
	writer.kill()
	stop()
	stop() // twice is no harm

	if _, _, err := (&gate.Files{Dir: filepath.Join(files.Dir, "missing")}).Watch("api"); err == nil {
		t.Error("a missing directory can be watched")
	}
	dir := filepath.Join(t.TempDir(), "gates")
	files = &gate.Files{Dir: dir}
	put(t, files, "api")
	if changed, stop, err = files.Watch("api"); err != nil {
		t.Fatal(err)
	}
	defer stop()
	os.RemoveAll(dir)
	told("the end of the directory")
}
