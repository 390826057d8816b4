//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/test/must"
)

// seamed is a belay whose clock can be set.
var seamed = sync.OnceValues(func() (string, error) {
	path := filepath.Join(binDir, "belay-clock")
	return path, built.Program{Package: "cmd/belay", Clock: true}.As(path)
})

// seamedBelay is belay with a clock that can be set.
func seamedBelay(t *testing.T) string {
	t.Helper()
	path, err := seamed()
	must.OK(t, err)
	return path
}

// jumpCase is a run during which the clock is set.
type jumpCase struct {
	before    []string // arguments of a belay that is run before
	flags     []string
	command   string
	least     time.Duration // how long it takes at least, and at most not much longer
	code      int
	codeAhead int // where the clock is set forward, if that is another
}

// The clock is set by hours, forward and back, while a run waits, is held, stalls or has a limit: no wait is longer than was
// asked for, and no run is ended early. BELAY_TEST_CLOCK_ROUNDS says how often each is tried, with other jumps at other
// moments.
func TestClock_Jumps(t *testing.T) {
	if testing.Short() {
		t.Skip("builds belay with the clock seam")
	}
	t.Parallel()
	if _, err := seamed(); err != nil {
		t.Fatal(err)
	}
	const (
		lasts     = 2 * time.Second
		throttled = `echo "429 Too Many Requests, retry after 2 s" >&2; [ -e again ] || { : > again; exit 1; }`
		fails     = `[ -e again ] || { : > again; exit 1; }`
		hangs     = "exec sleep 300"
	)
	throttle := []string{"run", "--gate", "api", "--max-retries", "1", "--no-wait", "--", "sh", "-c", `echo "429 Too Many Requests, retry after 4 s" >&2; exit 1`}
	trip := []string{"run", "--gate", "api", "--breaker-failures", "1", "--breaker-open", "4s", "--max-retries", "0", "--retry-on", "503", "--", "sh", "-c", "echo HTTP 503 >&2; exit 1"}
	var tried, survived atomic.Int64
	t.Cleanup(func() { t.Logf("tried %d jumps of the clock; survived %d", tried.Load(), survived.Load()) })
	for name, tt := range map[string]jumpCase{
		"BackOff":      {nil, []string{"--max-retries", "1", "--base-delay", "2s", "--jitter", "none"}, fails, lasts, 0, 0},
		"Hint":         {nil, []string{"--max-retries", "1", "--base-delay", "0"}, throttled, lasts, 0, 0},
		"Stall":        {nil, []string{"--stall-timeout", "2s"}, hangs, lasts, 124, 124},
		"NoStall":      {nil, []string{"--stall-timeout", "30s"}, "for i in 1 2 3 4; do echo $i; sleep 0.5; done", lasts, 0, 0},
		"Timeout":      {nil, []string{"--timeout", "2s"}, hangs, lasts, 124, 124},
		"NoTimeout":    {nil, []string{"--timeout", "1m"}, "exec sleep 2", lasts, 0, 0},
		"TotalTimeout": {nil, []string{"--total-timeout", "2s", "--max-retries", "3"}, hangs, lasts, 124, 124},
		// A person's hold lasts until the time of day that was said: it is over at once, or lasts longer than may be waited.
		"Hold":         {[]string{"gates", "hold", "api", "--until", "3s"}, []string{"--gate", "api", "--max-wait", "20s", "--max-retries", "1"}, "true", 0, 75, 0},
		"HoldOfALimit": {throttle, []string{"--gate", "api", "--max-wait", "1m"}, "true", 0, 0, 0},
		"Breaker":      {trip, []string{"--gate", "api", "--breaker-open", "4s", "--max-wait", "1m"}, "true", 0, 0, 0},
	} {
		for direction, sign := range map[string]time.Duration{"Forward": 1, "Back": -1} {
			t.Run(name+"/"+direction, func(t *testing.T) {
				t.Parallel()
				random := faulttest.Random(t)
				for round := range faulttest.Count(t, "BELAY_TEST_CLOCK_ROUNDS", 1) {
					tried.Add(1)
					if tt.play(t, round, sign*time.Duration(1+random.IntN(40))*time.Hour, 100*time.Millisecond+faulttest.N(random, time.Second)) {
						survived.Add(1)
					}
				}
			})
		}
	}
}

// busy is how long anything may take on a busy machine. A wait that follows a jump takes an hour at least.
const busy = 5 * testTimeout

// play sets the clock by so much, that long after the run has begun, and reports whether all was as it should be.
func (c *jumpCase) play(t *testing.T, round int, jump, after time.Duration) bool {
	t.Helper()
	r := newRun(t, round)
	belay, _ := seamed()
	offset := filepath.Join(r.dir, "offset")
	set := func(by time.Duration) { // as a whole: it is read at any moment
		err := os.WriteFile(offset+".new", []byte(by.String()), 0o600)
		if err == nil {
			err = os.Rename(offset+".new", offset)
		}
		if err != nil {
			t.Error(err)
		}
	}
	var stderr bytes.Buffer
	command := func(args ...string) *exec.Cmd {
		cmd := r.command(belay, args...)
		cmd.Env = append(cmd.Env, "BELAY_TEST_CLOCK="+offset)
		cmd.Stderr = &stderr
		return cmd
	}
	set(0)
	if c.before != nil {
		command(c.before...).Run()
	}
	code := c.code
	if jump > 0 {
		code = c.codeAhead
	}
	cmd := command(append(append([]string{"run"}, c.flags...), "--", "sh", "-c", c.command)...)
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return false
	}
	jumps := time.AfterFunc(after, func() { set(jump) })
	late := time.AfterFunc(busy, func() { cmd.Process.Kill() })
	got := shellCode(cmd.Wait())
	took := time.Since(begun)
	late.Stop()
	jumps.Stop()
	ok := got == code && took >= c.least && took < busy
	if !ok {
		t.Errorf("the clock was set by %v: exit code %d after %v, want %d after %v\n%s", jump, got, took, code, c.least, &stderr)
	}
	if list, _ := os.ReadDir(filepath.Join(r.dir, "state", "runs")); len(list) > 0 {
		t.Errorf("%d records are left", len(list))
	}
	return ok
}
