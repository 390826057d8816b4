//go:build linux

// The end-to-end suite: everything here drives the real binary, as a user would. Scripts with one idea each are in
// testdata/script; what needs a terminal, many processes or much data is written in Go.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/fleet/fleettest"
)

// testTimeout bounds what takes a moment on an idle machine.
const testTimeout = 60 * time.Second

var (
	binDir  string // holds belay, belay-plain and belayd
	raceDir string // holds a belay with the race detector, where there is a C compiler
)

// concurrent are the tests in which much happens at once within one belay. Theirs has the race detector; with BELAY_TEST_FULL all have
// it. It takes five times the CPU of a short run, and most tests are of many short runs: as released, belay is tested at half the price.
var concurrent = []string{"TestCrowd", "TestCtrlC", "TestFaults", "TestGate", "TestNotify", "TestSpending", "TestStatusLine", "TestTerminal", "TestTop"}

// programs is the directory of the belay that a test runs.
func programs(t testing.TB) string {
	group := strings.FieldsFunc(t.Name(), func(r rune) bool { return r == '_' || r == '/' })[0]
	if os.Getenv("BELAY_TEST_FULL") != "" || slices.Contains(concurrent, group) {
		return raceDir
	}
	return binDir
}

func TestMain(m *testing.M) {
	flag.Parse()
	// Most of the tests wait for something most of the time.
	if !given("test.parallel") {
		flag.Set("test.parallel", "6")
	}
	if testing.Short() && !given("test.run") {
		flag.Set("test.run", "^TestScripts$") // what each command does and says; the rest needs many processes, much data or a terminal
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
		code = fleettest.Run(m)
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

func given(name string) (ok bool) {
	flag.Visit(func(f *flag.Flag) { ok = ok || f.Name == name })
	return ok
}

// build makes belay as it is released, which is belay-plain too, belayd, and a belay with the race detector where there is a C compiler.
func build(dir string) error {
	binDir, raceDir = dir, filepath.Join(dir, "race")
	if err := errors.Join(os.Mkdir(raceDir, 0o700), buildCompanion(dir), built.Into(dir, built.Belay)); err != nil {
		return err
	}
	link := func(name, to string) error { return os.Link(filepath.Join(dir, name), filepath.Join(dir, to)) }
	// belayd is looked for beside belay.
	if err := errors.Join(link("belay", "belay-plain"), link("belay", "race/belay-plain"), link("belayd", "race/belayd"), link("ask", "race/ask")); err != nil {
		return err
	}
	if testing.Short() {
		return link("belay", "race/belay")
	}
	if err := built.Into(raceDir, built.Program{Package: "cmd/belay", Race: true}); err != nil {
		fmt.Fprintf(os.Stderr, "no race detector: %v\n", err)
		return link("belay", "race/belay")
	}
	return nil
}

// rounds is how often a test repeats what depends on chance.
func rounds(t testing.TB) int {
	return faulttest.Rounds(t)
}

// idVar marks everything that a test starts, so that what it leaves behind is found, whatever its parent is.
const idVar = "E2E_ID"

// environment is what the commands of one test see: nothing of the machine but PATH, everything else in dir.
func environment(bin, dir, id string) []string {
	return []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"),
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
