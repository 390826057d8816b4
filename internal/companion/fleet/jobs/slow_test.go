//go:build unix

package jobs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/companion/fleet/fleettest"
)

// A connection may be slow: a prompt arrives that takes longer to send than PostgreSQL waits for a silent machine, and a result that takes longer than other
// statements may. Both are also fetched, though that takes longer than other statements may.
func TestSlow_LargePromptAndResult(t *testing.T) {
	t.Parallel()
	f := newFarm(t, fleettest.Database(t))
	f.bee.work(1)
	f.bee.says("joined")
	text := strings.Repeat("0123456789abcdef", 32<<10) // 512 KiB
	fleettest.Put(t, f.ant.dir, "tasks.jsonl", fmt.Sprintf(`{"id":"a","prompt":%q}`+"\n", text))
	f.ant.net.Narrow(80 << 10)
	f.bee.net.Narrow(45 << 10)
	f.batch = f.ant.start("batch", "--fleet", "tasks.jsonl", "-o", "results.jsonl", "--", "sh", "-c", fmt.Sprintf("touch %s/began; while ! test -e %s/go; do sleep 0.05; done; cat", f.dir, f.dir))
	f.waitFor(1, "state = 'running'")
	if !within(patience, func() bool { _, err := os.Stat(filepath.Join(f.dir, "began")); return err == nil }) {
		t.Fatal("the job does not begin")
	}
	f.ant.net.Narrow(45 << 10)
	fleettest.Put(t, f.dir, "go", "")
	if list := f.results(0); len(list) != 1 || list[0].Result != text || list[0].Tries > 1 {
		t.Errorf("%.2000s", fmt.Sprint(list))
	}
}
