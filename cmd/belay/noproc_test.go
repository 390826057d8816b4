//go:build linux

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// withoutProc is the command in front of what is to run where /proc is hidden.
func withoutProc(t *testing.T) []string {
	t.Helper()
	return unshared(t, []string{"unshare", "--mount", "sh", "-c", `mount -t tmpfs none /proc && exec "$@"`, "sh"})
}

// Where there is no /proc, a stop still ends what a command has started, and it is said once what cannot be done.
func TestNoProc_Stopped(t *testing.T) {
	t.Parallel()
	command := withoutProc(t)
	const says = "/proc is not mounted; without it what a killed belay has left cannot be found"
	trees := map[string]string{
		"Orphan":   `(setsid env -i sh -c ': > up; exec sleep 300' &)`,
		"Stubborn": `(setsid env -i sh -c 'trap "" TERM INT HUP; : > up; while :; do sleep 0.2; done' &)`,
		"Unmarked": `(setsid env -i prlimit --locks=unlimited sh -c 'sleep 300 & : > up; wait' &)`,
	}
	const wait = ` while [ ! -e up ]; do sleep 0.01; done; `
	for tree, script := range trees {
		for name, tt := range map[string]struct {
			args []string
			then string
			sig  syscall.Signal
			code int
			said int
		}{
			"Timeout":     {[]string{"run", "--timeout", "2s"}, "exec sleep 300", 0, 124, 1},
			"Reap":        {[]string{"run", "--reap"}, "exit 0", 0, 0, 1},
			"HookTimeout": {[]string{"hook", "--timeout", "2s"}, "exec sleep 300", 0, 0, 0},
			"MCP":         {[]string{"mcp"}, "exec cat", syscall.SIGTERM, 143, 1},
		} {
			if tree != "Orphan" && name != "Timeout" {
				continue // each way once, and each tree once
			}
			t.Run(tree+"/"+name, func(t *testing.T) {
				t.Parallel()
				r := newRun(t, 0)
				stdin, w, err := os.Pipe()
				must.OK(t, err)
				defer stdin.Close()
				defer w.Close()
				args := append(append(append([]string{}, command[1:]...), "belay-plain"), tt.args...)
				r.stdin = stdin
				r.start(command[0], append(args, "--", "sh", "-c", `{ `+script+` } > /dev/null 2>&1;`+wait+tt.then)...)
				if tt.sig != 0 {
					eventually(t, "it is up", func() bool { _, err := os.Stat(filepath.Join(r.dir, "up")); return err == nil })
					r.cmd.Process.Signal(tt.sig)
				}
				io.Copy(io.Discard, r.out)
				if code := shellCode(r.cmd.Wait()); code != tt.code {
					t.Errorf("exit code %d, want %d\n%s", code, tt.code, r.said())
				}
				r.noneLeft("belay has ended")
				if n := strings.Count(r.said(), says); n != tt.said {
					t.Errorf("it is said %d times:\n%s", n, r.said())
				}
			})
		}
	}
}

// What a plain command has left is reported although there is no /proc, and belay ps says that it cannot know.
func TestNoProc_Reported(t *testing.T) {
	t.Parallel()
	command := withoutProc(t)
	r := newRun(t, 0)
	r.start(command[0], append(command[1:], "belay-plain", "run", "--timeout", "1m", "--", "sh", "-c", orphan)...)
	r.ends(0)
	if !strings.Contains(r.said(), "sh left processes running: ") {
		t.Errorf("%q", r.said())
	}
	r.orphans(1)
	out, err := r.command(command[0], append(command[1:], "belay-plain", "ps")...).CombinedOutput()
	if shellCode(err) != 125 || !strings.HasPrefix(string(out), "belay: /proc is not mounted") {
		t.Errorf("%v: %s", err, out)
	}
}
