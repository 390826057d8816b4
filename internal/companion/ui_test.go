//go:build !norecord

package companion

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

// belay ui ends by itself when no page has been open for so long, and says so.
func TestRun_UIEndsWhenIdle(t *testing.T) {
	seedRecord(t)
	a := asked(t, "ui", "--no-open=true", "--port=0", "--address=127.0.0.1", "--idle=50ms", "--")
	if a.code != 0 || !strings.Contains(a.stdout, "/#token=") || a.stderr != "belay: no page was open for 50ms, so belay ui has ended (--idle)\n" {
		t.Errorf("code %d\n%s%s", a.code, a.stdout, a.stderr)
	}
}

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
