package supervise_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

func init() {
	// The owner of a run that leaves an orphan and is stopped, while there may be children that come from no run.
	helpers["orphan"] = func([]string) {
		s := supervise.Own()
		for range 3 {
			os.Remove("orphan")
			spec := supervise.Spec{Path: "/bin/sh", RunID: newID(), Args: []string{"sh", "-c", wiped + ": > made; exec sleep 300"}}
			spec.Ladder = hurried(supervise.Terminate)
			exit, err := s.Run(spec, func(p *supervise.Process) {
				go func() {
					within(testTimeout, func() bool { return exists("made") && (!exists("wanted") || exists("stranger")) })
					p.Stop(spec.Ladder)
				}()
			})
			fmt.Println(exit.Reason, len(exit.Left), err)
			os.Remove("made")
		}
	}
}

// A shell that starts something in the background and then executes us leaves us children that are none of ours, and
// those are never touched: also if they were started in the same hundredth of a second as the command, and also if they leave
// orphans themselves. The run's own orphans are ended where it is certain that they are not those.
func TestOrphan_Strangers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before string // started before us, in the directory aside
		lives  bool   // until the end
		left   int    // how many of the run's three orphans may be the other child's, as far as can be known
	}{
		"None":      {before: `:;`},
		"Childless": {before: `sleep 300 &`, lives: true},
		"Several":   {before: `sleep 300 & sleep 300 & setsid env -i sleep 300 &`, lives: true},
		"WithChild": {before: `sh -c 'sleep 300 & wait' &`, lives: true},
		"Ends":      {before: `sleep 0.05 &`, left: 1},
		"Busy":      {before: `sh -c 'while :; do sleep 0.01; done' &`, lives: true, left: 3},
		// A server that becomes a daemon while the run is under way.
		"Daemon": {before: `: > ../wanted; setsid sh -c 'sleep 0.3; (setsid env -i sh -c ": > ../stranger; exec sleep 300" &)' &`, lives: true, left: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			aside := filepath.Join(dir, "aside")
			must.OK(t, os.Mkdir(aside, 0o700))
			t.Cleanup(func() {
				for _, pid := range append(inside(aside), inside(dir)...) {
					syscall.Kill(pid, syscall.SIGKILL)
				}
			})
			cmd := exec.Command("/bin/sh", "-c", `cd aside; { `+tt.before+` } > /dev/null 2>&1; cd ..; exec "$0"`, os.Args[0])
			cmd.Dir, cmd.WaitDelay = dir, testTimeout
			cmd.Env = append(os.Environ(), helperVar+"=orphan")
			out, err := cmd.Output()
			if want := strings.Repeat("stopped 0 <nil>\n", 3); err != nil || string(out) != want {
				t.Errorf("%q, %v", out, err)
			}
			if left := inside(dir); len(left) > tt.left {
				allGone(t, left)
			}
			if tt.lives && len(inside(aside)) == 0 {
				t.Error("the stranger was ended")
			}
		})
	}
}

func init() {
	// The owner of a run, as a user who may not end what root has started.
	helpers["unprivileged"] = func(args []string) {
		if err := syscall.Setuid(65534); err != nil {
			panic(err)
		}
		s := supervise.Own()
		spec := supervise.Spec{Path: "/bin/sh", RunID: newID(), Args: []string{"sh", "-c", args[0]}, Ladder: hurried(supervise.Terminate)}
		begun := time.Now()
		var p *supervise.Process
		exit, err := s.Run(spec, func(q *supervise.Process) {
			p = q
			go func() {
				within(testTimeout, func() bool { return exists("ready") })
				begun = time.Now()
				p.Stop(spec.Ladder)
			}()
		})
		if exit.Reason == supervise.Exited {
			begun = time.Now()
			_, exit.Left = p.EndTree()
		}
		fmt.Println(len(exit.Left), time.Since(begun) < testTimeout, err)
	}
}

// A daemon that sudo has started cannot be ended by a user who may not signal it. It is reported, and nothing is gained by trying
// for long.
func TestOrphan_OfAnotherUser(t *testing.T) {
	t.Parallel()
	perl, err := os.ReadFile("/usr/bin/perl")
	if err != nil || os.Geteuid() != 0 {
		t.Skip("needs root and perl")
	}
	for name, script := range map[string]string{
		"Stopped":         `(setsid env -i ./sudo &); while [ ! -e root ]; do sleep 0.01; done; : > ready; sleep 300`,
		"StoppedWithMore": wiped + `(setsid env -i ./sudo &); while [ ! -e root ]; do sleep 0.01; done; : > ready; sleep 300`,
		"Ended":           `(setsid env -i ./sudo &); while [ ! -e root ]; do sleep 0.01; done; exit 1`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var fs unix.Statfs_t
			if unix.Statfs(dir, &fs) == nil && fs.Flags&unix.ST_NOSUID != 0 {
				t.Skip("no setuid programs here")
			}
			for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
				os.Chmod(d, 0o777)
			}
			sudo := "#!" + dir + "/perl\n" + `$< = 0; open(my $f, '>', 'root'); close $f; sleep 300;`
			for path, data := range map[string]string{"perl": string(perl), "sudo": sudo} {
				must.OK(t, built.WriteFile(filepath.Join(dir, path), []byte(data)))
			}
			os.Chmod(filepath.Join(dir, "perl"), 0o755|os.ModeSetuid)
			cmd := helper("unprivileged", script)
			cmd.Dir = dir
			out, err := cmd.Output()
			if err != nil || string(out) != "1 true <nil>\n" {
				t.Errorf("%q, %v", out, err)
			}
			left := inside(dir)
			if len(left) != 1 {
				t.Errorf("left: %v", left)
			}
			for _, pid := range left {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		})
	}
}
