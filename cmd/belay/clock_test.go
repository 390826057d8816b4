//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// A clock that is set must not shut callers out: what a person held lasts until the time that was said, what a service's
// answer led to is over when the clock was set back behind its beginning.
func TestClock_IsSet(t *testing.T) {
	if testing.Short() {
		t.Skip("builds belay with the clock seam")
	}
	t.Parallel()
	dir := t.TempDir()
	belay, offset := seamedBelay(t), filepath.Join(dir, "offset")
	run := func(want int, args ...string) {
		t.Helper()
		cmd := exec.Command(belay, args...)
		cmd.Env = append(os.Environ(), "BELAY_STATE_DIR="+filepath.Join(dir, "state"), "HOME="+dir, "BELAY_TEST_CLOCK="+offset, "BELAY_FOLD=off") // a fold would go on behind the test
		if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != want {
			t.Errorf("belay %s: %v, want exit code %d: %s", strings.Join(args, " "), err, want, out)
		}
	}
	set := func(by string) {
		t.Helper()
		must.OK(t, os.WriteFile(offset, []byte(by+"\n"), 0o600))
	}
	const throttled = `echo "429 Too Many Requests, retry after 3600 s" >&2; exit 1`
	through := []string{"run", "--gate", "api", "--no-wait", "--", "true"}

	set("0s")
	run(0, through...)
	run(0, "gates", "hold", "api", "--until", "1h")
	run(75, through...)
	set("2h")
	run(0, through...)

	run(1, "run", "--gate", "api", "--max-retries", "1", "--no-wait", "--retry-on", "429", "--", "sh", "-c", throttled)
	run(75, through...)
	set("-24h")
	run(0, through...)
}
