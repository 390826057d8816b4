//go:build unix

package jobs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A job that has expired is not begun, although the clock of the worker says that there is time left, and not tried by another machine. One that has not is begun, although the
// clock says that its time is over.
func TestExpires_WrongClock(t *testing.T) {
	if os.Getenv("BELAY_TEST_BIN") != "" {
		t.Skip("BELAY_TEST_BIN has no seam for the clock")
	}
	t.Parallel()
	f := encrypted(t)
	for m, off := range map[*machine]string{f.bee: "-48h", f.cow: "48h"} {
		clock := filepath.Join(m.dir, "clock")
		os.WriteFile(clock, []byte(off), 0o600)
		m.more = append(m.more, "BELAY_TEST_CLOCK="+clock)
		f.goOn(m)
	}
	if out, code := f.ant.run("batch", "--fleet", "--expires", "0s", "tasks.jsonl", "--", "true"); code != 2 || !strings.Contains(out, "--expires: ") {
		t.Errorf("exit code %d: %s", code, out)
	}
	f.submit(`{"id":"soon"}`, "--expires", "1ms")
	f.waitFor(1, "true")
	f.bee.work(1)
	list := f.results(1)
	if len(list) != 1 || list[0].State != "failed" || !strings.Contains(list[0].Error, "the task was not begun: it has expired at ") || list[0].Machine != "bee" || len(f.ran()) != 0 {
		t.Errorf("ran %v: %+v", f.ran(), list)
	}
	f.bee.stop(9)
	f.cow.work(1)
	f.resubmit("--expires", "12h", "--retry-failed")
	if f.results(0); len(f.ran()) != 1 {
		t.Errorf("ran %v", f.ran())
	}
}
