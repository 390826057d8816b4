//go:build linux

package stage

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/clitest"
)

// Patience is how long anything may take that takes a moment on an idle machine. A claude needs a second of CPU to start,
// a codex that is offline lingers five seconds at its end, and the machine may be busy.
const Patience = 3 * time.Minute

// Parallel is how many tests of a suite run at a time, where the command line does not say: most of the time they wait.
var Parallel = 4

// bin holds belay, and what else a suite needs.
var bin string

// Bin is the path of a program that [Main] has built.
func Bin(name string) string { return filepath.Join(bin, name) }

// Main is the TestMain of a suite: offline, without core files, with belay and the other programs built. Those are
// packages of the module, such as "cmd/belayd".
func Main(m *testing.M, programs ...string) {
	flag.Parse()
	if testing.Short() {
		os.Exit(0) // they build the executables and drive CLIs with them
	}
	if code, done := clitest.Offline(); done {
		os.Exit(code)
	}
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "test.parallel" })
	if !set {
		flag.Set("test.parallel", strconv.Itoa(Parallel))
	}
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	clitest.HearSignals()
	code := 1
	if err := build(programs); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(bin)
	os.Exit(code)
}

// Raced has the tests of a package run a belay with the race detector, which takes five times the CPU of a short run. In full all do.
var Raced bool

// build makes belay, with the race detector where that is asked for and there is a C compiler, and the other programs without.
func build(programs []string) (err error) {
	if bin, err = os.MkdirTemp("", "belay-e2e-"); err != nil {
		return err
	}
	for _, name := range programs {
		if err := built.Into(bin, built.Program{Package: name}); err != nil {
			return err
		}
	}
	if Raced || clitest.Full() {
		err := built.Into(bin, built.Program{Package: "cmd/belay", Race: true})
		if err == nil {
			return nil
		}
		fmt.Fprintf(os.Stderr, "no race detector: %v\n", err)
	}
	return built.Into(bin, built.Belay)
}
