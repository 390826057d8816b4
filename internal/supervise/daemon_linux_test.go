package supervise_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

// daemonScript leaves a daemon, as cline leaves its hub, with a child in its group that ignores SIGTERM, and six processes that are none: other programs, one of them
// under the daemon's name, and the command's own program without a session of its own or with another command line.
const daemonScript = `cd "$1"; mkfifo f; exec 2> /dev/null
setsid sh -c 'trap "" TERM; sleep 300 & trap - TERM; echo $$ > daemon; read x <> f' --the-hub < /dev/null > /dev/null &
sleep 300 > /dev/null &
setsid sleep 300 > /dev/null &
setsid env -i sleep 300 > /dev/null &
setsid bash -c 'exec -a --the-hub sleep 300' > /dev/null &
sh -c ': > inside; read x <> f' --the-hub > /dev/null &
setsid sh -c ': > tool; read x <> f' tool > /dev/null &
until [ -s daemon ] && [ -e inside ] && [ -e tool ]; do sleep 0.01; done; sleep 0.2; : > ready; `

// A daemon that the profile knows is neither ended nor reported, however the command ends, and a pattern that matches everything keeps alive
// only what is the command's own program.
func TestDaemons(t *testing.T) {
	for name, tt := range map[string]struct {
		pattern string
		end     string // of the script
		tools   int    // how many of the command's own program stay besides the daemon
	}{
		"Exits":           {pattern: `--the-hub$`},
		"Stopped":         {pattern: `--the-hub$`, end: "sleep 300"},
		"Hostile":         {pattern: `.`, tools: 1},
		"Hostile/Stopped": {pattern: `.`, end: "sleep 300", tools: 1},
		"Unknown":         {pattern: `--another$`, tools: -1},
	} {
		for _, owned := range []bool{true, false} {
			t.Run(name+map[bool]string{true: "/Owner", false: "/Library"}[owned], func(t *testing.T) {
				dir, err := filepath.EvalSymlinks(t.TempDir())
				must.OK(t, err)
				s := &supervise.Supervisor{}
				if owned {
					s = own(t)
				}
				t.Cleanup(func() {
					for _, pid := range inside(dir) {
						syscall.Kill(pid, syscall.SIGKILL)
						unix.Wait4(pid, nil, 0, nil) // of a library it may be a child's child, which is no error
					}
				})
				spec := shell(daemonScript+tt.end, dir)
				spec.Daemons = []*regexp.Regexp{regexp.MustCompile(tt.pattern)}
				var out bytes.Buffer
				spec.Stdout = &out
				var process *supervise.Process
				exit := runOwned(t, s, spec, func(p *supervise.Process) {
					if process = p; tt.end != "" {
						go func() {
							eventually(t, "all are there", func() bool { return exists(filepath.Join(dir, "ready")) })
							p.Stop(hurried(supervise.Terminate))
						}()
					}
				})
				daemon, _ := os.ReadFile(filepath.Join(dir, "daemon"))
				hub, _ := strconv.Atoi(strings.TrimSpace(string(daemon)))
				isHub := func(q supervise.Proc) bool { return q.PID == hub }
				if tt.end == "" {
					if reported := slices.ContainsFunc(exit.Left, isHub); reported != (tt.tools < 0) || len(exit.Left) == 0 {
						t.Errorf("reported %v: %+v", reported, exit.Left)
					}
					if _, left := process.EndTree(); len(left) > 0 {
						t.Errorf("could not end %+v", left)
					}
				}
				stay := inside(dir)
				if len(stay) != 1+tt.tools || tt.tools >= 0 && !slices.Contains(stay, hub) {
					t.Errorf("%d stay: %v, of them the daemon %d", len(stay), stay, hub)
					for _, pid := range stay {
						args, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
						t.Logf("%d %q", pid, args)
					}
				}
				if !owned || tt.tools < 0 {
					return
				}
				// A later run of the same owner that knows nothing of daemons leaves it alone.
				later := shell("sleep 300")
				runOwned(t, s, later, func(p *supervise.Process) { go p.Stop(hurried(supervise.Terminate)) })
				if !slices.Contains(inside(dir), hub) {
					t.Error("a later run has ended the daemon")
				}
			})
		}
	}
}
