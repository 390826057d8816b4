//go:build unix

package jobs_test

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/fleet/fleettest"
)

// What it costs to bring files along: BELAY_FLEET_ARCHIVE=30 go test ./internal/fleet/jobs -run FilesSize -v measures it with 30 MiB.
func TestBatch_FilesSize(t *testing.T) {
	size, tasks := number("BELAY_FLEET_ARCHIVE", 0), number("BELAY_FLEET_TASKS", 100)
	if size == 0 {
		t.Skip("BELAY_FLEET_ARCHIVE is not set")
	}
	dsn := fleettest.Database(t)
	ant, bee := newMachine(t, "ant", dsn), newMachine(t, "bee", dsn)
	share(t, ant, bee)
	data := make([]byte, 1<<20)
	for i := range size {
		rand.Read(data)
		fleettest.Put(t, ant.dir, fmt.Sprintf("site/%d", i), string(data))
	}
	fleettest.Put(t, ant.dir, "tasks.txt", strings.Repeat("x\n", tasks))
	bee.allow(`["generic", "archive"]`)
	bee.work(2)
	var sent, most int64
	begun := time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if out, code := ant.run("batch", "--fleet", "--files", "archive", "--cwd", "site", "tasks.txt", "--", "sh", "-c", "ls | wc -l"); code != 0 {
			t.Errorf("exit code %d: %s", code, out)
		}
	}()
	for over := false; !over; {
		select {
		case <-done:
			over = true
		case <-time.After(100 * time.Millisecond):
			var jobs, now int64
			ask(t, dsn, "select (select count(*) from belay.job), pg_total_relation_size('belay.archive_part')").Scan(&jobs, &now)
			if most = max(most, now); jobs > 0 && sent == 0 {
				sent = time.Since(begun).Milliseconds()
			}
		}
	}
	t.Logf("%d tasks with %d MiB: submitted after %d ms, done after %d ms, %d MiB in PostgreSQL", tasks, size, sent, time.Since(begun).Milliseconds(), most>>20)
	if list, _ := os.ReadDir(filepath.Join(bee.dir, "state/fleet/archives")); len(list) != 1 {
		t.Errorf("fetched %d archives", len(list))
	}
}
