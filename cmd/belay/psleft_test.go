//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/clitest"
)

// What a killed belay has left is shown by belay ps and ended by belay ps --reap, whatever it has done to its environment,
// and whether or not there was time to write a record.
func TestPs_LeftByKilledBelay(t *testing.T) {
	t.Parallel()
	for daemon, script := range map[string]string{
		"Marked":      `setsid sh -c ': > up; exec sleep 300' &`,
		"Wiped":       `(setsid env -i sh -c ': > up; exec sleep 300' &)`,
		"Overwritten": `(setsid perl -e '$0 = "x" x 3000; open(F, ">", "up"); sleep 300' &)`,
	} {
		for name, tt := range map[string]struct {
			args   []string
			record bool // there is a record before it is killed
		}{
			"Run":            {[]string{"run"}, true},
			"Hook":           {[]string{"hook"}, true},
			"HookAtOnce":     {[]string{"hook"}, false},
			"KeepBackground": {[]string{"hook", "--keep-background"}, true},
			"MCP":            {[]string{"mcp"}, true},
			"Check":          {[]string{"run", "--check"}, true},
		} {
			if daemon != "Marked" && name != "HookAtOnce" && name != "Check" && !clitest.Full() {
				continue // each way once, and each daemon once
			}
			t.Run(daemon+"/"+name, func(t *testing.T) {
				t.Parallel()
				r := newRun(t, 0)
				line := `{ ` + script + ` } < /dev/null > /dev/null 2>&1; exec sleep 300`
				command := []string{"--", "sh", "-c", line}
				if name == "Check" {
					command = []string{line, "--", "true"}
				}
				r.start("belay", append(tt.args, command...)...)
				eventually(t, "the daemon is up", func() bool {
					_, err := os.Stat(filepath.Join(r.dir, "up"))
					records, _ := os.ReadDir(filepath.Join(r.dir, "state", "runs"))
					return err == nil && (!tt.record || len(records) > 0)
				})
				r.cmd.Process.Signal(syscall.SIGKILL)
				r.cmd.Wait()
				if len(inside(r.dir)) == 0 {
					t.Fatal("nothing is left: nothing is tested")
				}
				out, err := r.command("belay", "ps").CombinedOutput()
				if err != nil || !strings.Contains(string(out), "killed, left running: ") || !strings.Contains(string(out), "belay ps --reap") {
					t.Errorf("%v: %s", err, out)
				}
				out, err = r.command("belay", "ps", "--reap").CombinedOutput()
				if err != nil || !strings.Contains(string(out), "\nended ") && !strings.HasPrefix(string(out), "ended ") {
					t.Errorf("%v: %s", err, out)
				}
				r.orphans(0)
				if out, err := r.command("belay", "ps").CombinedOutput(); err != nil || string(out) != "nothing is running\n" {
					t.Errorf("%v: %s", err, out)
				}
			})
		}
	}
}

// What is meant to stay is not taken for what a killed belay has left: of a run that succeeded, and of a hook that may leave
// something in the background.
func TestPs_LeftOnPurpose(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"Run": {"run"}, "Hook": {"hook", "--keep-background"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, 0)
			r.start("belay", append(args, "--", "sh", "-c", orphan)...)
			r.ends(0)
			for _, args := range [][]string{{"ps"}, {"ps", "--reap"}, {"ps", "--reap"}} {
				out, err := r.command("belay", args...).CombinedOutput()
				if text := string(out); err != nil || text != "nothing is running\n" && text != "nothing was left running\n" {
					t.Errorf("%v: %v: %s", args, err, out)
				}
			}
			r.orphans(1)
		})
	}
}

// A hook under way is shown, can be cancelled, and is not touched by --reap, whether or not it has a record yet.
func TestPs_Hook(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	r.start("belay", "hook", "--", "sh", "-c", orphan+`: > ready; exec sleep 300`)
	eventually(t, "the hook runs", func() bool { _, err := os.Stat(filepath.Join(r.dir, "ready")); return err == nil })
	if out, err := r.command("belay", "ps", "--reap").CombinedOutput(); err != nil || string(out) != "nothing was left running\n" {
		t.Errorf("%v: %s", err, out)
	}
	var id string
	eventually(t, "belay ps shows it", func() bool {
		out, err := r.command("belay", "ps").Output()
		lines := strings.Split(string(out), "\n")
		if err != nil || len(lines) < 2 || !strings.Contains(lines[1], "sh") {
			return false
		}
		id, _, _ = strings.Cut(lines[1], " ")
		return true
	})
	if len(inside(r.dir)) < 2 {
		t.Errorf("left are %v", inside(r.dir))
	}
	if out, err := r.command("belay", "cancel", id).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	r.cmd.Wait()
	r.orphans(0)
	for _, p := range inside(r.dir) {
		unix.Kill(p.pid, unix.SIGKILL)
	}
	if records, _ := os.ReadDir(filepath.Join(r.dir, "state", "runs")); len(records) > 0 {
		t.Errorf("%d records are left", len(records))
	}
}
