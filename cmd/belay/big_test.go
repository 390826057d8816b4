//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/test/must"
)

const (
	mib     = 1 << 20
	allowed = 20 * mib // above the runtime
)

// peak is the most memory that a process has used so far.
func peak(t *testing.T, pid int) int {
	t.Helper()
	text := field(fmt.Sprintf("/proc/%d", pid), "VmHWM")
	kb, err := strconv.Atoi(strings.TrimSuffix(text, " kB"))
	if err != nil {
		t.Fatalf("VmHWM is %q", text)
	}
	return kb << 10
}

// checkPeak fails if belay used more than is allowed.
func checkPeak(t *testing.T, peak, base int) {
	t.Helper()
	t.Logf("peak %d MiB, idle %d MiB", peak/mib, base/mib)
	if peak > base+allowed {
		t.Errorf("peak of %d MiB, idle %d MiB", peak/mib, base/mib)
	}
}

// idle is the peak of a run that has nothing to do.
func idle(t *testing.T) int {
	t.Helper()
	r := newRun(t, 99)
	r.start("belay-plain", "run", "--", "sh", "-c", "echo ready; while [ ! -e go ]; do sleep 0.02; done")
	r.line("ready")
	base := peak(t, r.cmd.Process.Pid)
	must.OK(t, os.WriteFile(filepath.Join(r.dir, "go"), nil, 0o600))
	r.ends(0)
	return base
}

// roomFor skips a test that the disk is too small for.
func roomFor(t *testing.T, dir string, bytes uint64) {
	t.Helper()
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err == nil && fs.Bavail*uint64(fs.Bsize) < bytes {
		t.Skipf("less than %d MiB are free in %s", bytes/mib, dir)
	}
}

// slow is a reader's side that takes its time.
type slow struct{}

func (slow) Write(p []byte) (int, error) {
	time.Sleep(time.Duration(len(p)) * time.Millisecond / (256 << 10))
	return len(p), nil
}

// However much a command prints, belay's own memory stays small, and every byte arrives.
func TestBig_Output(t *testing.T) {
	if testing.Short() {
		t.Skip("moves gigabytes")
	}
	base := idle(t)
	for _, way := range []struct {
		name  string
		size  int
		flags []string
		room  uint64
	}{
		{"PassedThrough", 1024 * mib, nil, 0},
		{"Streamed", 1024 * mib, []string{"--stream", "--max-retries", "1"}, 0},
		{"Held", 1024 * mib, []string{"--max-retries", "1"}, 2048 * mib},
		{"SlowReader", 1024 * mib, []string{"--stream", "--max-retries", "1"}, 0},
		{"Watched", 256 * mib, []string{"--stall-timeout", "60"}, 0},
		{"Searched", 256 * mib, []string{"--fail-on", "no such thing"}, 0},
		{"JSON", 128 * mib, []string{"--output-format", "json"}, 512 * mib},
	} {
		t.Run(way.name, func(t *testing.T) {
			if !clitest.Full() { // three times what is allowed is as good, but for JSON, which costs more
				way.size = min(way.size/4, 64*mib)
			}
			r := newRun(t, 0)
			roomFor(t, r.dir, way.room)
			r.start("belay-plain", append(append([]string{"run"}, way.flags...), "--", "sh", "-c",
				fmt.Sprintf("yes 0123456789abcde | head -c %d", way.size))...)
			// Close to the end belay still has something to write, and is there to be looked at.
			const late = 4 * mib
			var to io.Writer = io.Discard
			if way.name == "SlowReader" {
				to = slow{}
			}
			n, err := io.CopyN(to, r.out, int64(way.size-late))
			if err != nil {
				t.Fatalf("%d bytes, then %v\n%s", n, err, r.said())
			}
			used := peak(t, r.cmd.Process.Pid)
			rest, err := io.Copy(io.Discard, r.out)
			if code := shellCode(r.cmd.Wait()); code != 0 || err != nil {
				t.Errorf("exit code %d, %v\n%s", code, err, r.said())
			}
			if got := int(n + rest); got != way.size && way.name != "JSON" {
				t.Errorf("%d bytes, want %d", got, way.size)
			}
			checkPeak(t, used, base)
			if held, _ := filepath.Glob(filepath.Join(r.dir, "state", "held-*")); len(held) > 0 {
				t.Errorf("left behind: %v", held)
			}
		})
	}
}

// The same for what goes in, whether it is kept for another attempt or not.
func TestBig_Input(t *testing.T) {
	if testing.Short() {
		t.Skip("moves gigabytes")
	}
	base := idle(t)
	for _, way := range []struct {
		name  string
		flags []string
		room  uint64
	}{
		{"PassedThrough", nil, 0},
		{"WithRetries", []string{"--max-retries", "1", "--stream"}, 0},
		{"Replayed", []string{"--max-retries", "1", "--stream", "--replay-stdin"}, 512 * mib},
	} {
		t.Run(way.name, func(t *testing.T) {
			size := 64 * mib
			if clitest.Full() {
				size = 256 * mib
			}
			r := newRun(t, 0)
			roomFor(t, r.dir, way.room)
			r.start("bash", "-c", fmt.Sprintf("yes 0123456789abcde | head -c %d | (echo $BASHPID; exec belay-plain run %s -- cat)",
				size, strings.Join(way.flags, " ")))
			first, err := r.out.ReadString('\n')
			must.OK(t, err)
			pid, err := strconv.Atoi(strings.TrimSpace(first))
			must.OK(t, err)
			n, err := io.CopyN(io.Discard, r.out, int64(size-4*mib))
			if err != nil {
				t.Fatalf("%d bytes, then %v\n%s", n, err, r.said())
			}
			used := peak(t, pid)
			rest, _ := io.Copy(io.Discard, r.out)
			if code := shellCode(r.cmd.Wait()); code != 0 || n+rest != int64(size) {
				t.Errorf("exit code %d, %d bytes\n%s", code, n+rest, r.said())
			}
			checkPeak(t, used, base)
		})
	}
}

// One line of 16 MiB breaks neither what is read of the output nor what is passed on.
func TestBig_Line(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	const script = `echo x >> n; head -c 16777216 /dev/zero | tr '\0' y; echo; echo 'connection reset' >&2; exit 1`
	cmd := r.command("belay-plain", "run", "--retry-on", "connection reset", "--max-retries", "1", "--base-delay", "0", "--", "sh", "-c", script)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if code := shellCode(cmd.Run()); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if n := stdout.Len(); n != 16*mib+1 {
		t.Errorf("%d bytes", n)
	}
	if n := stderr.Len(); n > 2000 {
		t.Errorf("%d bytes on stderr: %.300s", n, stderr.String())
	}
	if n, _ := os.ReadFile(filepath.Join(r.dir, "n")); string(n) != "x\nx\n" {
		t.Errorf("attempts: %q", n)
	}
	// On the stream that is searched, and as the only thing there: the evidence stays short.
	cmd = r.command("belay-plain", "run", "--retry-on", "y", "--max-retries", "1", "--base-delay", "0", "--output-format", "json", "--",
		"sh", "-c", `head -c 16777216 /dev/zero | tr '\0' y >&2; exit 1`)
	stdout.Reset()
	cmd.Stdout, cmd.Stderr = &stdout, nil
	if code := shellCode(cmd.Run()); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if n := stdout.Len(); n > 4000 {
		t.Errorf("a result of %d bytes: %.300s", n, stdout.String())
	}
	list, torn := r.entries()
	if len(list) != 4 || torn != 0 {
		t.Errorf("%d entries, %d torn", len(list), torn)
	}
}
