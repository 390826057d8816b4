// Package built has Belay's executables for tests. Where a run of the tests names a directory for them, as scripts/unit does, each is linked once for
// all packages; otherwise each package links its own.
package built

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/belay-run/belay/internal/flock"
)

const (
	module = "github.com/belay-run/belay/"
	// dirVar names the directory that the packages share. What is in it is not built again.
	dirVar = "BELAY_TEST_BUILT"
)

// Program is an executable, and how it is built.
type Program struct {
	Package string // within the module, as in "cmd/belay"
	Race    bool   // with the race detector, which needs a C compiler
	Clock   bool   // whose clock can be set (internal/clock)
}

// Belay and Companion are the two of a release.
var (
	Belay     = Program{Package: "cmd/belay"}
	Companion = Program{Package: "cmd/belayd"}
)

// Into puts executables into a directory, each under the name of its package.
func Into(dir string, programs ...Program) error {
	for _, p := range programs {
		if err := p.As(filepath.Join(dir, filepath.Base(p.Package)+exe())); err != nil {
			return err
		}
	}
	return nil
}

// As puts a copy of the executable at a path, which the test may change.
func (p Program) As(path string) error {
	shared := os.Getenv(dirVar)
	if shared == "" {
		return p.build(path)
	}
	from := filepath.Join(shared, fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%+v", p)))[:16])
	if err := p.once(from); err != nil {
		return err
	}
	return duplicate(from, path)
}

// once builds it, unless it is there. Other packages that want the same wait.
func (p Program) once(path string) error {
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := flock.Lock(lock, flock.Exclusive); err != nil {
		return err
	}
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := p.build(path + ".new"); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func (p Program) build(path string) error {
	link := "-ldflags=-s -w"
	if p.Clock {
		link += " -X " + module + "internal/clock.seam=open"
	}
	cmd := exec.Command("go", "build", link, "-o", path)
	cgo := "CGO_ENABLED=0" // as it is released
	if p.Race {
		cgo = "CGO_ENABLED=1"
		cmd.Args = append(cmd.Args, "-race")
	}
	cmd.Args = append(cmd.Args, module+p.Package)
	cmd.Env = append(os.Environ(), cgo, "GOGC=400") // as in the Makefile
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

func duplicate(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	os.Remove(to)
	return WriteFile(to, data)
}

// WriteFile makes an executable. A process that another goroutine starts meanwhile would have the file open for writing, and until that has executed its own
// program the file could not be executed: text file busy.
func WriteFile(path string, data []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, data, 0o755)
}

func exe() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}
