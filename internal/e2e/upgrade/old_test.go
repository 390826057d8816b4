//go:build linux

package upgrade_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// oldCommit is the last commit before the redesign, which has written the home in testdata.
const oldCommit = "52c78ef65bbf8b88ad0d053c6addd8c5d2282c7a"

// old is where the executables of oldCommit are.
type old struct {
	dir     string
	missing string // why there are none
	err     error
}

// buildOld builds the executables of oldCommit once for this checkout, and keeps them with its other tools. Flags and environment are those of
// `make cross`, so that the build cache has all that the two versions share.
var buildOld = sync.OnceValue(func() (o old) {
	root, ok := checkout()
	if !ok {
		return old{missing: "this is not a git checkout"}
	}
	if out, err := run(root, "git", "rev-parse", "HEAD"); err != nil {
		return old{err: fmt.Errorf("git cannot read this checkout: %w\n%s", err, out)}
	}
	if _, err := run(root, "git", "cat-file", "-e", oldCommit+"^{commit}"); err != nil {
		return old{missing: "the history of this checkout does not reach back to it"}
	}
	kept := filepath.Join(root, ".tools", fmt.Sprintf("belay-%s-%s", oldCommit[:7], runtime.Version()))
	if _, err := os.Stat(kept); err == nil {
		return old{dir: kept}
	}
	// Below the directory that stage.Main removes.
	if o.dir, o.err = os.MkdirTemp(stage.Bin(""), "old-"); o.err != nil {
		return o
	}
	bin := filepath.Join(o.dir, "bin") + string(filepath.Separator)
	source := filepath.Join(o.dir, "source")
	if o.err = os.Mkdir(source, 0o700); o.err != nil {
		return o
	}
	archive := filepath.Join(o.dir, "source.tar")
	for _, step := range [][]string{
		{root, "git", "archive", "-o", archive, oldCommit, "go.mod", "go.sum", ":(glob)**/*.go"},
		{source, "tar", "-xf", archive},
		{source, "go", "build", "-ldflags", "-s -w", "-o", bin, "./cmd/belay", "./cmd/belayd"},
	} {
		if out, err := run(step[0], step[1:]...); err != nil {
			o.err = fmt.Errorf("%s: %w\n%s", strings.Join(step[1:], " "), err, out)
			return o
		}
	}
	// The copy is whole once it has its name.
	if out, err := run(root, "sh", "-c", `mkdir -p .tools && rm -rf "$2.new" && cp -r "$1" "$2.new" && mv -T "$2.new" "$2"`, "sh", bin, kept); err != nil {
		o.err = fmt.Errorf("%w\n%s", err, out)
	}
	return old{dir: bin, err: o.err}
})

// checkout is the directory of the git checkout that this is a part of.
func checkout() (root string, ok bool) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir, true
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return "", false
}

func run(dir string, args ...string) (string, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// oldBin is the directory with the executables of oldCommit. The test is skipped where the history is not there; that they
// cannot be built is a failure.
func oldBin(t *testing.T) string {
	t.Helper()
	o := buildOld()
	if o.missing != "" {
		t.Skipf("SKIPPED: the executables of %s cannot be built: %s", oldCommit[:7], o.missing)
	}
	if o.err != nil {
		t.Fatal(o.err)
	}
	return o.dir
}
