package ui

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/test/must"
)

// The token of /metrics is the owner's alone. It is looked at at each request, so that is said at the start and holds later.
func TestMetricsToken(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("who can read a file is not in its mode")
	}
	path := filepath.Join(t.TempDir(), "token")
	must.OK(t, os.WriteFile(path, []byte("plum\n"), 0o600))
	read, err := metricsToken(path)
	must.OK(t, err)
	if token, err := read(); err != nil || token != "plum" {
		t.Error(token, err)
	}
	must.OK(t, os.Chmod(path, 0o666))
	if token, err := read(); !errors.Is(err, safefile.ErrShared) {
		t.Error(token, err)
	}
	if _, err := metricsToken(path); err == nil || !strings.Contains(err.Error(), "chmod 600 "+path) {
		t.Error(err)
	}
}
