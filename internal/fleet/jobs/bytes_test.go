//go:build unix

package jobs_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/fleet/fleettest"
)

// A task may have any bytes in its id, and so may its command: both arrive as they are. What a task says is in no log of the worker, also where it is in the arguments of a plain command
// that fails and quotes it.
func TestBatch_AnyBytesAndNoQuotes(t *testing.T) {
	t.Parallel()
	f := newFarm(t, fleettest.Database(t))
	f.bee.work(1)
	fleettest.Put(t, f.ant.dir, "tasks.csv", "id,text\ncaf\xe9,the plan of kim\n\xe9\xff,the plan of kim\n")
	args := []string{"batch", "--fleet", "tasks.csv", "-o", "results.jsonl", "--", "sh", "-c", `printf %s "$1" | od -An -tx1; echo "cannot do $2" >&2; test "$1" != "` + "\xe9\xff" + `"`, "sh", "{id}", "{text}"}
	if said, code := f.ant.run(args...); code != 1 {
		t.Fatalf("exit code %d: %s\n%s", code, said, f.bee.err)
	}
	got := map[string]string{}
	for _, l := range readResults(t, filepath.Join(f.ant.dir, "results.jsonl")) {
		got[l.Task] = l.State + strings.TrimSpace(l.Result)
	}
	if len(got) != 2 || got[`caf\xE9`] != "done63 61 66 e9" || got[`\xE9\xFF`] != "failede9 ff" {
		t.Errorf("%q", got)
	}
	if said, code := f.ant.run(args...); code != 1 || len(readResults(t, filepath.Join(f.ant.dir, "results.jsonl"))) != 2 {
		t.Errorf("exit code %d: %s", code, said)
	}
	found := 0
	filepath.WalkDir(filepath.Join(f.bee.dir, "state"), func(path string, d fs.DirEntry, err error) error {
		if data, err := os.ReadFile(path); err == nil {
			found++
			if bytes.Contains(data, []byte("the plan of kim")) {
				t.Errorf("%s has what the task says", path)
			}
		}
		return nil
	})
	if found == 0 {
		t.Error("the worker has no log")
	}
}
