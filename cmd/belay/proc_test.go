//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// proc is a living process.
type proc struct {
	pid  int
	args string
}

func (p proc) String() string { return fmt.Sprintf("%d (%s)", p.pid, p.args) }

// marked returns the living processes that have kv in their environment.
func marked(kv string) []proc {
	var found []proc
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		env, err := os.ReadFile(dir + "/environ")
		if err != nil || !bytes.Contains(env, []byte(kv)) || !slices.Contains(strings.Split(string(env), "\x00"), kv) {
			continue
		}
		if dead(dir) {
			continue
		}
		found = append(found, procOf(dir))
	}
	return found
}

// inside returns the living processes that have dir as their working directory: what has wiped its environment is found by
// that.
func inside(dir string) []proc {
	var found []proc
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		if cwd, err := os.Readlink(d + "/cwd"); err == nil && cwd == dir {
			found = append(found, procOf(d))
		}
	}
	return found
}

func procOf(dir string) proc {
	args, _ := os.ReadFile(dir + "/cmdline")
	pid, _ := strconv.Atoi(filepath.Base(dir))
	return proc{pid, strings.TrimSpace(strings.ReplaceAll(string(args), "\x00", " "))}
}

// dead reports whether the process is gone or a zombie.
func dead(dir string) bool {
	state := field(dir, "State")
	return state == "" || strings.HasPrefix(state, "Z") || strings.HasPrefix(state, "X")
}

// field is a value of /proc/<pid>/status.
func field(dir, name string) string {
	status, err := os.ReadFile(dir + "/status")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// running reports whether a process lives.
func running(pid int) bool { return !dead("/proc/" + strconv.Itoa(pid)) }

// within polls until ok is true, and reports whether it became so in time. It polls less and less often, since a look may be one at all processes.
func within(d time.Duration, ok func() bool) bool {
	for end, pause := time.Now().Add(d), 5*time.Millisecond; ; pause = min(2*pause, 80*time.Millisecond) {
		if ok() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
		time.Sleep(pause)
	}
}

// eventually is within for a test that cannot go on otherwise.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	if !within(testTimeout, ok) {
		t.Fatalf("not within %v: %s", testTimeout, what)
	}
}
