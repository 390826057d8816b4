package doctor

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
)

// A CLI that takes its time is stopped by Belay, which does not blame the CLI for that.
func TestOutput_TakesTooLong(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	before := askTimeout
	t.Cleanup(func() { askTimeout = before })
	askTimeout = 100 * time.Millisecond
	path := filepath.Join(t.TempDir(), "slow")
	must.OK(t, os.WriteFile(path, []byte("#!/bin/sh\nexec sleep 300\n"), 0o700))
	if _, err := output(path, "--version"); err == nil || err.Error() != "took longer than the 100ms that belay gives it" {
		t.Errorf("%v", err)
	}
}
