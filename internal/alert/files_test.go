//go:build unix

package alert_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/sharedfile"
)

// roleVar makes the test binary another process that counts failures in that directory.
const roleVar = "ALERT_TEST_DIR"

func TestMain(m *testing.M) {
	dir := os.Getenv(roleVar)
	if dir == "" {
		os.Exit(m.Run())
	}
	n, _ := strconv.Atoi(os.Args[1])
	fmt.Println("ready")
	for range n {
		if raised, err := counted(alert.Files{Dir: dir}, alert.Settings{Failures: 50}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		} else if raised != nil {
			fmt.Println("raised")
		}
	}
	os.Exit(0)
}

// counted counts a failure. It retries on a machine so busy that it does not get the lock in time.
func counted(files alert.Files, set alert.Settings) (raised *alert.Raised, err error) {
	for raised, err = files.Failed("api", set, time.Now()); errors.Is(err, sharedfile.ErrLocked); {
		raised, err = files.Failed("api", set, time.Now())
	}
	return raised, err
}

// start runs a process that counts n failures.
func start(t *testing.T, dir string, n int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0], strconv.Itoa(n))
	cmd.Env = append(os.Environ(), roleVar+"="+dir, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Error("it did not begin")
	}
	return cmd, lines
}

// Of all processes one raises the alert, at the failure that makes it enough.
func TestFiles_OneOfManyRaises(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "alerts")
	var raised atomic.Int64
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			cmd, lines := start(t, dir, 10)
			for lines.Scan() {
				raised.Add(1)
			}
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if raised.Load() != 1 {
		t.Errorf("raised %d times", raised.Load())
	}
	for name, want := range map[string]os.FileMode{"": 0o700, "api.json": 0o600, "api.json.lock": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// Nine processes with ten failures each, and a tenth with nine: 99 failures never raise an alert that needs 100, and one
// more does. None was lost and none counted twice.
func TestFiles_NoneIsLost(t *testing.T) {
	t.Parallel()
	files := alert.Files{Dir: t.TempDir()}
	set := alert.Settings{Failures: 100, Within: time.Hour}
	var all sync.WaitGroup
	for w := range 10 {
		all.Go(func() {
			for range 10 - w/9 {
				if raised, err := counted(files, set); raised != nil || err != nil {
					t.Error(raised, err)
				}
			}
		})
	}
	all.Wait()
	raised, err := files.Failed("api", set, time.Now())
	if raised == nil || err != nil || raised.Failures != 100 || raised.Integration != "api" {
		t.Errorf("%+v, %v", raised, err)
	}
}

// kills is how many processes are killed: half as many as elsewhere.
func kills(t *testing.T) int {
	return max(1, faulttest.Kills(t)/2)
}

// Killed at any moment, a process leaves a state that can be read and a lock that is free.
func TestFiles_Killed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files, random := alert.Files{Dir: dir}, faulttest.Random(t)
	for range kills(t) {
		cmd, _ := start(t, dir, 1_000_000)
		time.Sleep(faulttest.N(random, 10*time.Millisecond))
		cmd.Process.Kill()
		cmd.Wait()
		if s, err := files.Load("api"); err != nil {
			t.Fatalf("%+v, %v", s, err)
		}
		if _, err := files.Failed("api", alert.Settings{Failures: 50}, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(left) > 3 { // the state, its lock, and perhaps half a replacement
		t.Errorf("%v", left)
	}
	t.Logf("tried %d kills while failures are counted; survived: the count can be read", kills(t))
}

func TestFiles_Damaged(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "garbage": "\x00\x01", "half": `{"v":1,"state":{"ti`, "newer": `{"v":9}`, "other": `[]`} {
		t.Run(name, func(t *testing.T) {
			files := alert.Files{Dir: t.TempDir()}
			if err := os.WriteFile(filepath.Join(files.Dir, "api.json"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := files.Failed("api", alert.Settings{}, t0); err == nil || !strings.Contains(err.Error(), "counted anew") {
				t.Errorf("said %v", err)
			}
			if s, err := files.Load("api"); err != nil || len(s.Times) != 1 {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
}

func TestFiles_Locked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd, _ := start(t, dir, 1_000_000)
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	if err := exec.Command("kill", "-STOP", strconv.Itoa(cmd.Process.Pid)).Run(); err != nil {
		t.Fatal(err)
	}
	// The process may have been stopped anywhere; if it holds the lock, this gives up soon.
	begun := time.Now()
	_, err := (alert.Files{Dir: dir}).Failed("api", alert.Settings{}, time.Now())
	if err != nil && !errors.Is(err, sharedfile.ErrLocked) {
		t.Error(err)
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("took %v", took)
	}
}

func TestFiles_Names(t *testing.T) {
	files := alert.Files{Dir: t.TempDir()}
	names := []string{"claude", "mcp:files", "mcp_files", "hook:../../etc/passwd", "", ".", "Claude", strings.Repeat("x", 300), "a/b", "\xff", "日本"}
	for i, name := range names {
		for range i + 1 {
			if _, err := files.Failed(name, alert.Settings{Failures: 100}, t0); err != nil {
				t.Fatalf("%q: %v", name, err)
			}
		}
	}
	for i, name := range names {
		if s, err := files.Load(name); err != nil || len(s.Times) != i+1 {
			t.Errorf("%q: %d failures, %v", name, len(s.Times), err)
		}
	}
	if found, _ := filepath.Glob(filepath.Join(files.Dir, "*.json")); len(found) != len(names) {
		t.Errorf("%d files for %d names", len(found), len(names))
	}
}

func TestFiles_Off(t *testing.T) {
	files := alert.Files{Dir: filepath.Join(t.TempDir(), "none")}
	for range 10 {
		if raised, err := files.Failed("api", alert.Settings{Failures: -1}, t0); raised != nil || err != nil {
			t.Errorf("%v, %v", raised, err)
		}
	}
	if _, err := os.Stat(files.Dir); err == nil {
		t.Error("there is a directory")
	}
}
