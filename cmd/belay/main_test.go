//go:build linux

// The end-to-end suite: everything here drives the real binary, as a user would. Scripts with one idea each are in
// testdata/script; what needs a terminal, many processes or much data is written in Go.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/faulttest"
)

// testTimeout bounds what takes a moment on an idle machine.
const testTimeout = 60 * time.Second

var (
	binDir string // holds belay, and belay-plain
	raced  bool   // belay is built with the race detector
)

func TestMain(m *testing.M) {
	flag.Parse()
	// Most of the tests wait for something most of the time.
	if !given("test.parallel") {
		flag.Set("test.parallel", "6")
	}
	clitest.HearSignals()
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) // some die by SIGSEGV on purpose
	dir, err := os.MkdirTemp("", "belay-e2e-")
	if err == nil {
		err = build(dir)
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

func given(name string) (ok bool) {
	flag.Visit(func(f *flag.Flag) { ok = ok || f.Name == name })
	return ok
}

// build makes belay, with the race detector where there is a C compiler, and belay-plain: as it is released.
func build(dir string) error {
	binDir = dir
	if err := buildCompanion(dir); err != nil {
		return err
	}
	plain, belay := filepath.Join(dir, "belay-plain"), filepath.Join(dir, "belay")
	if err := goBuild(plain, "CGO_ENABLED=0"); err != nil {
		return err
	}
	if err := goBuild(belay, "CGO_ENABLED=1", "-race"); err != nil {
		fmt.Fprintf(os.Stderr, "no race detector: %v\n", err)
		return os.Link(plain, belay)
	}
	raced = true
	return nil
}

func goBuild(to, env string, flags ...string) error {
	cmd := exec.Command("go", append(append([]string{"build", "-o", to}, flags...), ".")...)
	cmd.Env = append(os.Environ(), env)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %v: %w\n%s", flags, err, out)
	}
	return nil
}

// rounds is how often a test repeats what depends on chance.
func rounds(t testing.TB) int {
	return faulttest.Count(t, "BELAY_TEST_ROUNDS", 10)
}

// idVar marks everything that a test starts, so that what it leaves behind is found, whatever its parent is.
const idVar = "E2E_ID"

// environment is what the commands of one test see: nothing of the machine but PATH, everything else in dir.
func environment(dir, id string) []string {
	return []string{
		"PATH=" + binDir + ":" + os.Getenv("PATH"),
		"HOME=" + filepath.Join(dir, "home"),
		"XDG_CONFIG_HOME=" + filepath.Join(dir, "config"),
		"XDG_STATE_HOME=" + filepath.Join(dir, "xdg-state"),
		"BELAY_STATE_DIR=" + filepath.Join(dir, "state"),
		"TMPDIR=" + filepath.Join(dir, ".tmp"),
		"BELAY_FOLD=off", // hundreds of runs fail here, and no test asks about them
		"LC_ALL=C.UTF-8",
		"TZ=UTC",
		"GORACE=atexit_sleep_ms=0 log_path=" + filepath.Join(dir, "race"),
		idVar + "=" + id,
	}
}

// afterwards says what a test has left: reports of the race detector, and processes, which it ends.
func afterwards(t testing.TB, dir, id string) {
	reports, _ := filepath.Glob(filepath.Join(dir, "race.*"))
	for i, path := range reports {
		if report, _ := os.ReadFile(path); i == 0 {
			t.Errorf("%d data races, the first is:\n%.4000s", len(reports), report)
		}
	}
	var left []proc
	// What was killed at the very end takes a moment to go.
	within(testTimeout, func() bool { left = marked(idVar + "=" + id); return len(left) == 0 })
	for _, p := range left {
		t.Errorf("left behind: %v", p)
		unix.Kill(p.pid, unix.SIGKILL)
	}
}
