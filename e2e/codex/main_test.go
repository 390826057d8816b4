//go:build linux

package codex_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/clitest"
)

// patience is how long anything may take that takes a moment on an idle machine. Offline, a codex
// lingers five seconds at its end, and the machine may be busy.
const patience = 3 * time.Minute

// full says that everything is to be tried, also what takes long, and with older versions.
var full = os.Getenv("BELAY_TEST_FULL") != ""

// binDir holds belay.
var binDir string

func TestMain(m *testing.M) {
	flag.Parse()
	if code, done := clitest.Offline(); done {
		os.Exit(code)
	}
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "test.parallel" })
	if !set {
		flag.Set("test.parallel", "4") // most of the time they wait
	}
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	code := 1
	if err := build(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(binDir)
	os.Exit(code)
}

// build makes belay, with the race detector where there is a C compiler.
func build() (err error) {
	if binDir, err = os.MkdirTemp("", "belay-codex-"); err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-race", "-o", binDir, "../../cmd/belay")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	if err := cmd.Run(); err == nil {
		return nil
	}
	if out, err := exec.Command("go", "build", "-o", binDir, "../../cmd/belay").CombinedOutput(); err != nil {
		return fmt.Errorf("go build belay: %w\n%s", err, out)
	}
	fmt.Fprintln(os.Stderr, "no race detector")
	return nil
}

// idVar marks everything that a test starts, so that what it leaves behind is found, whoever its parent is.
const idVar = "E2E_ID"

// proc is a living process.
type proc struct {
	pid  int
	args string
}

func (p proc) String() string { return fmt.Sprintf("%d (%.200s)", p.pid, p.args) }

// marked returns the living processes that have kv in their environment.
func marked(kv string) []proc {
	var found []proc
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		env, err := os.ReadFile(dir + "/environ")
		if err != nil || !slices.Contains(strings.Split(string(env), "\x00"), kv) {
			continue
		}
		status, err := os.ReadFile(dir + "/status")
		if err != nil || strings.Contains(string(status), "State:\tZ") || strings.Contains(string(status), "State:\tX") {
			continue
		}
		args, _ := os.ReadFile(dir + "/cmdline")
		pid, _ := strconv.Atoi(filepath.Base(dir))
		found = append(found, proc{pid, strings.TrimSpace(strings.ReplaceAll(string(args), "\x00", " "))})
	}
	return found
}

// within polls until ok is true, and reports whether it became so in time.
func within(d time.Duration, ok func() bool) bool {
	for end := time.Now().Add(d); ; time.Sleep(20 * time.Millisecond) {
		if ok() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}
