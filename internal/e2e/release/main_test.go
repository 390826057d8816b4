//go:build linux

// Package release tests what a release is made of, as the people get it who install it: archives on a system without Go,
// packages by Debian's own tools, the script that installs, and npm.
package release

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// dirs are the releases that the tests share, one of each version, made once.
var dirs sync.Map

var base string

func TestMain(m *testing.M) {
	var err error
	if base, err = os.MkdirTemp("", "belay-release-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(base)
	os.Exit(code)
}

// current is the version of a checkout, and older one that is upgraded from.
const current, older = "0.1.0-dev", "0.0.9"

// made is the directory of a release for this machine. Building it and the tool that packages it takes minutes of CPU, so the tests of
// every day have none.
func made(t *testing.T, version string) string {
	t.Helper()
	if os.Getenv("BELAY_TEST_FULL") == "" {
		t.Skip("only with BELAY_TEST_FULL=1")
	}
	type result struct {
		dir string
		err error
	}
	once, _ := dirs.LoadOrStore(version, sync.OnceValue(func() result {
		dir := filepath.Join(base, version)
		return result{dir, makeRelease(dir, version)}
	}))
	r := once.(func() result)()
	if r.err != nil {
		t.Fatal(r.err)
	}
	return r.dir
}

func makeRelease(dir, version string) error {
	args := []string{"dist", "DIST=" + dir, "PLATFORMS=linux/" + runtime.GOARCH}
	if version != current {
		args = append(args, "VERSION="+version)
	}
	cmd := exec.Command("make", args...)
	cmd.Dir = "../../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("make dist: %w\n%s", err, out)
	}
	return nil
}

// file is the one file of a release with that ending.
func file(t *testing.T, version, ending string) string {
	t.Helper()
	found, _ := filepath.Glob(filepath.Join(made(t, version), "*"+ending))
	if len(found) != 1 {
		t.Fatalf("files that end in %s: %v", ending, found)
	}
	return found[0]
}

// need skips a test where a program is missing, or is to be used as root; where CI is set, that is a failure.
func need(t *testing.T, asRoot bool, programs ...string) {
	t.Helper()
	skip := t.Skipf
	if os.Getenv("CI") != "" {
		skip = t.Fatalf
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			skip("SKIPPED: %s is not installed", p)
		}
	}
	if asRoot && os.Getuid() != 0 {
		skip("SKIPPED: it has to be root")
	}
}

// run runs a program, which has to succeed, and returns what it prints.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
