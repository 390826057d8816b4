//go:build unix

package jobs_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/test/must"
)

// A task whose files are not found fails by itself, also if it is the only one that a batch which is continued has left. The batch used to wait for it without end, since
// nothing was submitted before it.
func TestBatch_FilesOfALaterTask(t *testing.T) {
	t.Parallel()
	dsn := fleettest.Database(t)
	ant, bee := newMachine(t, "ant", dsn), newMachine(t, "bee", dsn)
	bee.work(1)
	fleettest.Put(t, ant.dir, "tasks.jsonl", `{"id":"a"}
{"id":"b","files":"git","depends_on":["a"]}
`)
	for _, flags := range [][]string{nil, {"--retry-failed"}} {
		cmd := ant.command(append(append([]string{"batch", "--fleet"}, flags...), "tasks.jsonl", "-o", "results.jsonl", "--", "sh", "-c", "true")...)
		var out lockedBuffer
		cmd.Stdout, cmd.Stderr = &out, &out
		must.OK(t, cmd.Start())
		late := time.AfterFunc(30*time.Second, func() { cmd.Process.Kill() })
		cmd.Wait()
		late.Stop()
		list := readResults(t, filepath.Join(ant.dir, "results.jsonl"))
		if code, last := cmd.ProcessState.ExitCode(), list[len(list)-1]; code != 1 || last.Task != "b" || !strings.Contains(last.Error, "not in a git work tree") {
			t.Errorf("%v: exit code %d: %+v\n%s\n%s", flags, code, list, &out, bee.err)
		}
	}
}
