//go:build unix

package jobs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/companion/fleet/fleettest"
)

// A connection may be slow: a prompt arrives that takes longer to send than PostgreSQL waits for a silent machine, and so does a result that takes longer than other
// statements may.
func TestSlow_LargePromptAndResult(t *testing.T) {
	t.Parallel()
	f := newFarm(t, fleettest.Database(t))
	f.bee.work(1)
	f.bee.says("joined")
	text := strings.Repeat("0123456789abcdef", 32<<10) // 512 KiB, in 16 pieces
	fleettest.Put(t, f.ant.dir, "tasks.jsonl", fmt.Sprintf(`{"id":"a","prompt":%q}`+"\n", text))
	f.ant.net.Delay(400 * time.Millisecond)
	f.batch = f.ant.start("batch", "--fleet", "tasks.jsonl", "-o", "results.jsonl", "--", "sh", "-c", fmt.Sprintf("while ! test -e %s/go; do sleep 0.05; done; cat", f.dir))
	f.waitFor(1, "state = 'running'")
	f.ant.net.Heal()
	f.bee.net.Delay(700 * time.Millisecond)
	fleettest.Put(t, f.dir, "go", "")
	if list := f.results(0); len(list) != 1 || list[0].Result != text || list[0].Tries > 1 {
		t.Errorf("%.2000s", fmt.Sprint(list))
	}
}
