//go:build linux

package upgrade_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// buildOld builds the executables of oldCommit once for all tests. Flags and environment are those of `make cross`, so
// that the build cache has all that the two versions share, and with -trimpath it has the rest wherever the source is.
var buildOld = sync.OnceValue(func() (o old) {
	root, err := run("", "git", "rev-parse", "--show-toplevel")
	if errors.Is(err, exec.ErrNotFound) {
		return old{err: err}
	}
	if err != nil {
		return old{missing: "this is not a git checkout"}
	}
	if _, err := run("", "git", "cat-file", "-e", oldCommit+"^{commit}"); err != nil {
		return old{missing: "the history of this checkout does not reach back to it"}
	}
	// Below the directory that stage.Main removes.
	if o.dir, o.err = os.MkdirTemp(stage.Bin(""), "old-"); o.err != nil {
		return o
	}
	source := filepath.Join(o.dir, "source")
	if o.err = os.Mkdir(source, 0o700); o.err != nil {
		return o
	}
	archive := filepath.Join(o.dir, "source.tar")
	for _, step := range [][]string{
		{strings.TrimSpace(root), "git", "archive", "-o", archive, oldCommit, "go.mod", "go.sum", ":(glob)**/*.go"},
		{source, "tar", "-xf", archive},
		{source, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", o.dir, "./cmd/belay", "./cmd/belayd"},
	} {
		if out, err := run(step[0], step[1:]...); err != nil {
			o.err = fmt.Errorf("%s: %w\n%s", strings.Join(step[1:], " "), err, out)
			return o
		}
	}
	return o
})

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
