//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// namespaces are those in which a pid or a start time means another process than it does here, although the state
// directory is the same: what a container has that shares it.
var namespaces = map[string][]string{
	"Time": {"unshare", "--time", "--boottime", "100000", "--fork", "--kill-child"},
	"PID":  {"unshare", "--pid", "--mount-proc", "--fork", "--kill-child"},
	"Both": {"unshare", "--pid", "--mount-proc", "--time", "--boottime", "100000", "--fork", "--kill-child"},
}

// unshared is the command in front of what is to run in other namespaces.
func unshared(t *testing.T, command []string) []string {
	t.Helper()
	if os.Getuid() != 0 {
		command = append([]string{command[0], "--user", "--map-root-user"}, command[1:]...)
	}
	if out, err := exec.Command(command[0], append(command[1:], "true")...).CombinedOutput(); err != nil {
		if os.Getuid() == 0 && os.Getenv("CI") != "" {
			t.Fatalf("%v: %v: %s", command, err, out)
		}
		t.Skipf("%v: %v: %s", command, err, out)
	}
	return command
}

// A run in other namespaces can be neither judged nor ended, whichever side looks at it.
func TestNamespaces_RunsAreLeftAlone(t *testing.T) {
	t.Parallel()
	for name, command := range namespaces {
		for side, inner := range map[string]bool{"LookedAtFromInside": false, "LookedAtFromOutside": true} {
			t.Run(name+"/"+side, func(t *testing.T) {
				t.Parallel()
				command := unshared(t, command)
				r := newRun(t, 0)
				runs, looks := []string{"env"}, command
				if inner {
					runs, looks = command, runs
				}
				r.start(runs[0], append(runs[1:], "belay", "run", "--", "sh", "-c", `setsid sleep 300 & echo ready; wait`)...)
				r.line("ready")
				for _, args := range [][]string{{"ps", "--reap"}, {"ps"}, {"run", "--", "true"}, {"hook", "--", "true"}} {
					out, err := r.command(looks[0], append(append(looks[1:], "belay"), args...)...).CombinedOutput()
					if err != nil || strings.Contains(string(out), "killed") || strings.Contains(string(out), "ended") {
						t.Errorf("%v: %v: %s", args, err, out)
					}
				}
				if records, _ := os.ReadDir(filepath.Join(r.dir, "state", "runs")); len(records) != 1 {
					t.Errorf("%d records, want the run's", len(records))
				}
				if log, _ := os.ReadFile(filepath.Join(r.dir, "state", "log.jsonl")); strings.Contains(string(log), "killed") {
					t.Errorf("it is on record as killed: %s", log)
				}
				if len(marked(idVar+"="+r.id)) < 3 {
					t.Errorf("of the run are left: %v", marked(idVar+"="+r.id))
				}
				for _, p := range marked(idVar + "=" + r.id) {
					if strings.HasPrefix(p.args, "belay run") {
						syscall.Kill(p.pid, syscall.SIGTERM)
					}
				}
				r.cmd.Wait()
				r.noneLeft("it was told to stop")
			})
		}
	}
}
