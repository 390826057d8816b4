//go:build unix

package jobs_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/fleet/fleettest"
)

// A connection may be slow: a prompt arrives that takes longer to send than PostgreSQL waits for a silent machine, and a result that takes longer than other
// statements may. Both are also fetched, though that takes longer than other statements may. BELAY_TEST_SLOW_TASKS=5 has five of each at the same time, for which the
// worker has too few connections; it takes some minutes.
func TestSlow_LargePromptAndResult(t *testing.T) {
	t.Parallel()
	n := number("BELAY_TEST_SLOW_TASKS", 1)
	f := newFarm(t, fleettest.Database(t))
	f.bee.work(n)
	f.bee.says("joined")
	text := strings.Repeat("0123456789abcdef", 32<<10) // 512 KiB
	var tasks strings.Builder
	for i := range n {
		fmt.Fprintf(&tasks, `{"id":"%d","prompt":%q}`+"\n", i, text)
	}
	fleettest.Put(t, f.ant.dir, "tasks.jsonl", tasks.String())
	f.ant.net.Narrow(80 << 10)
	f.bee.net.Narrow(45 << 10)
	f.batch = f.ant.start("batch", "--fleet", "tasks.jsonl", "-o", "results.jsonl", "--", "sh", "-c", fmt.Sprintf("touch %s/began-$$; while ! test -e %s/go; do sleep 0.05; done; cat", f.dir, f.dir))
	if !within(time.Duration(n)*patience, func() bool {
		began, _ := filepath.Glob(filepath.Join(f.dir, "began-*"))
		return len(began) == n
	}) {
		t.Fatal("not all jobs have begun")
	}
	f.ant.net.Narrow(45 << 10)
	fleettest.Put(t, f.dir, "go", "")
	list := f.results(0)
	if len(list) != n {
		t.Errorf("%d results", len(list))
	}
	for _, l := range list {
		if l.Result != text || l.Tries > 1 {
			t.Errorf("%.200s", fmt.Sprint(l))
		}
	}
}
