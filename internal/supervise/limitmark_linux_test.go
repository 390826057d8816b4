package supervise_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

// daemons are ways in which a process loses the marker in its environment. Each makes the file up once it has.
var daemons = map[string]string{
	"Wiped":       `env -i sh -c ': > up; exec sleep 300' &`,
	"WipedOrphan": `(setsid env -i sh -c ': > up; exec sleep 300' > /dev/null 2>&1 &)`,
	// What a program writes over its environment, the kernel shows as its environment.
	"Overwritten": `(setsid perl -e '$0 = "x" x 3000; open(F, ">", "up"); sleep 300' > /dev/null 2>&1 &)`,
	"Stubborn":    `(setsid env -i sh -c 'trap "" TERM INT HUP; : > up; while :; do sleep 0.2; done' > /dev/null 2>&1 &)`,
	"Stopped":     `(setsid env -i sh -c ': > up; kill -STOP $$' > /dev/null 2>&1 &)`,
}

// untilMarked is a script that waits for its mark: a library marks a child that runs already.
const untilMarked = `while grep -q 'file locks *unlimited' /proc/$$/limits; do :; done
`

func init() {
	// killed runs a script in its working directory, on record, and waits to be killed. Without a directory for records the
	// id of the run says whose it is.
	helpers["killed"] = func(args []string) {
		r := supervise.Records{Dir: args[0]}
		id := r.OwnedID()
		if args[1] != "" {
			id = args[1]
			if _, err := r.Create(supervise.Record{ID: id, Started: time.Now(), Attempt: 1}); err != nil {
				panic(err)
			}
		}
		s := &supervise.Supervisor{}
		if args[2] == "owner" {
			s = supervise.Own()
		}
		_, err := s.Run(supervise.Spec{Path: "/bin/sh", RunID: id, Args: []string{"sh", "-c", args[3] + "\nexec sleep 300"}}, nil)
		panic(fmt.Sprint("not killed: ", err))
	}
}

// killed runs a script in a directory of its own, under an owner that is killed as soon as the daemon is up.
func killed(t *testing.T, records, id, kind, script string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	cmd := helper("killed", records, id, kind, script)
	cmd.Dir = dir
	must.OK(t, cmd.Start())
	t.Cleanup(func() {
		for _, pid := range inside(dir) {
			unix.Kill(pid, unix.SIGKILL)
		}
	})
	eventually(t, "the daemon is up", func() bool { return exists(filepath.Join(dir, "up")) })
	cmd.Process.Kill()
	cmd.Wait()
	if len(inside(dir)) == 0 {
		t.Fatal("it has left nothing: nothing is tested")
	}
	return dir
}

// What a killed owner has left is found and ended although it has lost its environment: on record, by the next one; not
// on record, by whoever looks for that.
func TestReclaim_WithoutEnvironment(t *testing.T) {
	t.Parallel()
	for name, script := range daemons {
		for _, kind := range []string{"owner", "library"} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				records, daemon := t.TempDir(), script
				if kind == "library" {
					daemon = untilMarked + script
				}
				dir := killed(t, records, newID(), kind, daemon)
				reclaim(t, records)
				noneInside(t, dir)
				if left := names(t, records); len(left) > 0 {
					t.Errorf("records: %q", left)
				}
			})
		}
		t.Run(name+"/Unrecorded", func(t *testing.T) {
			t.Parallel()
			records, other := supervise.Records{Dir: t.TempDir()}, supervise.Records{Dir: t.TempDir()}
			dir := killed(t, records.Dir, "", "owner", script)
			if found, err := other.Unrecorded(); err != nil || len(found) > 0 {
				t.Errorf("in another directory: %v, %v", found, err)
			}
			found, err := records.Unrecorded()
			if err != nil || len(found) == 0 {
				t.Errorf("%v, %v", found, err)
			}
			if ended, err := records.ReclaimAll(); err != nil || len(ended) == 0 {
				t.Errorf("%v, %v", ended, err)
			}
			noneInside(t, dir)
			if found, err := records.Unrecorded(); err != nil || len(found) > 0 {
				t.Errorf("afterwards: %v, %v", found, err)
			}
		})
	}
}

// What belongs to a living owner, on record or not, is left alone.
func TestReclaim_UnrecordedOfTheLiving(t *testing.T) {
	t.Parallel()
	r := supervise.Records{Dir: t.TempDir()}
	dir := t.TempDir()
	cmd := helper("killed", r.Dir, "", "owner", daemons["WipedOrphan"])
	cmd.Dir = dir
	must.OK(t, cmd.Start())
	eventually(t, "the daemon is up", func() bool { return exists(filepath.Join(dir, "up")) })
	if found, err := r.Unrecorded(); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
	if ended, err := r.ReclaimAll(); err != nil || len(ended) > 0 {
		t.Errorf("ended %v, %v", ended, err)
	}
	if len(inside(dir)) < 2 {
		t.Errorf("left are %v", inside(dir))
	}
	cmd.Process.Kill()
	cmd.Wait()
	r.ReclaimAll()
	noneInside(t, dir)
}

// The mark is the child's alone: neither we nor what others start have it, and the hard limit stays.
func TestLimitMark_OnlyTheRun(t *testing.T) {
	show := func() string {
		out, err := exec.Command("grep", "Max file locks", "/proc/self/limits").Output()
		must.OK(t, err)
		return strings.Join(strings.Fields(string(out)), " ")
	}
	before := show()
	for name, s := range map[string]*supervise.Supervisor{"Library": {}, "Owner": own(t)} {
		spec := shell(untilMarked + `grep 'Max file locks' /proc/$$/limits`)
		out := &strings.Builder{}
		spec.Stdout = out
		if _, err := s.Run(spec, nil); err != nil {
			t.Fatal(err)
		}
		f := strings.Fields(out.String())
		if len(f) < 5 || f[3] == "unlimited" || f[4] != "unlimited" {
			t.Errorf("%s: %q", name, out)
		}
	}
	if after := show(); after != before {
		t.Errorf("of others it was %q and is %q", before, after)
	}
	// Where the user has set a limit there is no room for the mark, and it works without.
	cmd := exec.Command("prlimit", "--locks=1000:1000", os.Args[0], "-test.run=^TestRun_Exit$")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
