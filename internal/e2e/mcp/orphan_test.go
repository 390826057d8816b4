//go:build linux

package mcp_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	e2e "github.com/belay-run/belay/internal/e2e/stage"
)

// orphaning is a server that leaves a process whose parent has ended, in a session of its own, with nothing in its
// environment, and then becomes the probe.
const orphaning = `(setsid env -i sh -c ': > orphan; exec sleep 300' > /dev/null 2>&1 &)
while [ ! -e orphan ]; do sleep 0.01; done; rm orphan
exec "$0"`

// What a server has left is ended before its successor is started, and the last one's with the session: whichever way it
// ended, and though nothing says where it comes from.
func TestOrphans(t *testing.T) {
	for name, tt := range map[string]struct {
		tool  string
		in    text
		flags []string
	}{
		"Exit":         {"exit", text{N: 3}, nil},
		"Kill":         {"kill", text{}, nil},
		"Hung":         {"stop", text{}, []string{"--tool-timeout", "stop=2s", "--hang-timeout", "1s"}},
		"StdoutClosed": {"mute", text{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			dir := t.TempDir()
			args := append(append([]string{"mcp", "--name", "probe"}, tt.flags...), "--", "sh", "-c", orphaning, probePath())
			cmd := s.command("plain", args...)
			cmd.Dir = dir
			session := s.connect("2025-11-25", nil, cmd)
			for i := range 3 {
				s.echo(session, fmt.Sprint("before ", i))
				s.call(session, tt.tool, tt.in)
				s.echo(session, fmt.Sprint("after ", i))
				if left := sleeping(dir); len(left) != 1 {
					t.Errorf("%d orphans are left, of one server", len(left))
				}
			}
			session.Close()
			e2e.Within(testTimeout, func() bool { return len(sleeping(dir)) == 0 })
			for _, pid := range sleeping(dir) {
				t.Errorf("process %d is left", pid)
				syscall.Kill(pid, syscall.SIGKILL)
			}
		})
	}
}

// sleeping are the orphans that work in dir. On a busy machine one may still be the shell that is about to become sleep.
func sleeping(dir string) (pids []int) {
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range processes {
		cwd, _ := os.Readlink(process + "/cwd")
		args, _ := os.ReadFile(process + "/cmdline")
		if cwd == dir && (strings.HasPrefix(string(args), "sleep\x00") || strings.HasPrefix(string(args), "sh\x00-c\x00: > orphan")) {
			pid, _ := strconv.Atoi(filepath.Base(process))
			pids = append(pids, pid)
		}
	}
	return pids
}
