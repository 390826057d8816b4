// Package smoke_test tries the executables on whatever system this is: Linux, macOS and Windows have the same suite. It needs no
// shell and no other program: what belay runs is the test itself.
//
//	go test ./internal/e2e/smoke                          builds belay and belayd and tries them
//	BELAY_SMOKE_BIN=bin go test ./internal/e2e/smoke      tries those in bin
package smoke_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/built"
)

// binVar names the directory of the executables that are tried, where they are not to be built.
const binVar = "BELAY_SMOKE_BIN"

// patience is how long anything may take that takes a moment on an idle machine.
const patience = 2 * time.Minute

var (
	bin  string // the directory of the executables
	self string // this executable, which is also what belay runs
)

func TestMain(m *testing.M) {
	var err error
	if self, err = os.Executable(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if len(os.Args) > 1 && os.Args[1] == childWord {
		os.Exit(child(os.Args[2:]))
	}
	if strings.EqualFold(filepath.Base(os.Args[0]), "node.exe") { // as it is copied to, to stand for node
		os.Exit(child(append([]string{"args"}, os.Args[1:]...)))
	}
	made, err := findOrBuild()
	code := 1
	if err == nil {
		code = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, err)
	}
	os.RemoveAll(made)
	os.Exit(code)
}

// findOrBuild sets bin, and returns the directory that is to be removed afterwards.
func findOrBuild() (made string, err error) {
	if given := os.Getenv(binVar); given != "" {
		bin, err = filepath.Abs(given)
		return "", err
	}
	if bin, err = os.MkdirTemp("", "belay-smoke-"); err != nil {
		return "", err
	}
	return bin, built.Into(bin, built.Belay, built.Companion)
}

// program is the path of one of the executables.
func program(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(bin, name)
}
