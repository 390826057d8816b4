//go:build linux

package supervise_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

// helperVar makes the test binary play another program: one of helpers.
const helperVar = "SUPERVISE_TEST_HELPER"

func TestMain(m *testing.M) {
	if name := os.Getenv(helperVar); name != "" {
		os.Unsetenv(helperVar)
		helpers[name](os.Args[1:])
		os.Exit(0) // what it has covered counts too
	}
	clitest.HearSignals()
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0") // else each helper takes a second to end
	}
	flag.Parse()
	if given := flag.Lookup("test.parallel"); given.Value.String() == given.DefValue {
		given.Value.Set("6") // most tests wait for others most of the time
	}
	os.Exit(m.Run())
}

// helpers are the programs that the test binary can play.
var helpers = map[string]func(args []string){}

// helper is a command that plays one of them.
func helper(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), helperVar+"="+name)
	cmd.Stderr, cmd.WaitDelay = os.Stderr, testTimeout
	return cmd
}

// testTimeout is for what takes milliseconds on an idle machine.
const testTimeout = time.Minute

// eventually waits until cond holds.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	if !within(testTimeout, cond) {
		t.Fatalf("waited in vain until %s", what)
	}
}

func within(d time.Duration, cond func() bool) bool {
	for end := time.Now().Add(d); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

var lastID atomic.Int64

// newID is an id for a run that no other process on this machine carries.
func newID() string {
	return fmt.Sprintf("test-%d-%d-%d", os.Getpid(), time.Now().UnixNano(), lastID.Add(1))
}

// carriers are the living processes that carry the marker of a run, found in another way than the package does.
func carriers(id string) (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // with more behind it, Glob would read all of these
	for _, dir := range dirs {
		environ, _ := os.ReadFile(dir + "/environ")
		if !bytes.Contains(environ, []byte(id)) {
			continue
		}
		for kv := range bytes.SplitSeq(environ, []byte{0}) {
			list, ok := strings.CutPrefix(string(kv), supervise.RunIDVar+"=")
			if ok && slices.Contains(strings.Split(list, ","), id) {
				pid, _ := strconv.Atoi(filepath.Base(dir))
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// inside are the living processes that have dir as their working directory: what has no marker is found by that.
func inside(dir string) (pids []int) {
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range processes {
		if cwd, _ := os.Readlink(process + "/cwd"); cwd == dir {
			pid, _ := strconv.Atoi(filepath.Base(process))
			pids = append(pids, pid)
		}
	}
	return pids
}

// noneLeft fails the test if a process of the run is alive, and ends it.
func noneLeft(t testing.TB, id string) {
	t.Helper()
	allGone(t, carriers(id))
}

// noneInside fails the test if a process is alive that works in dir, and ends it.
func noneInside(t testing.TB, dir string) {
	t.Helper()
	allGone(t, inside(dir))
}

func allGone(t testing.TB, pids []int) {
	t.Helper()
	for _, pid := range pids {
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		t.Errorf("process %d is left: %q %s", pid, cmdline, stat)
		if p, err := os.FindProcess(pid); err == nil {
			p.Kill()
		}
	}
}

// shell is a run of a shell script, with an id of its own.
func shell(script string, args ...string) supervise.Spec {
	return supervise.Spec{Path: "/bin/sh", Args: append([]string{"sh", "-c", script, "sh"}, args...), RunID: newID()}
}

// run runs it in the library's way.
func run(t testing.TB, spec supervise.Spec, started func(*supervise.Process)) supervise.Exit {
	t.Helper()
	exit, err := (&supervise.Supervisor{}).Run(spec, started)
	must.OK(t, err)
	return exit
}

// exists reports whether there is a file; scripts make one to say how far they are.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// hurried is a ladder with shorter waits.
func hurried(ladder supervise.Ladder) supervise.Ladder {
	ladder = slices.Clone(ladder)
	for i := range ladder {
		ladder[i].Wait = 50 * time.Millisecond
	}
	return ladder
}
