package config_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/test/must"
)

// A home that is not the user's, such as /root for another user, or none at all, such as /dev/null, is no reason not to run
// a command.
func TestLoad_HomeOfAnotherUser(t *testing.T) {
	home(t, "max_retries = 3", "")
	t.Setenv("HOME", "/dev/null")
	for name, place := range map[string]string{"NoDirectory": "/dev/null", "FromHome": ""} {
		t.Setenv("XDG_CONFIG_HOME", place)
		if s, _, err := config.Load(nil, "generic"); err != nil || s.Warning(always) != "" {
			t.Errorf("%s: %v, %v", name, err, s)
		}
	}

	closed := filepath.Join(t.TempDir(), "root")
	must.OK(t, os.MkdirAll(filepath.Join(closed, "belay"), 0o700))
	must.OK(t, os.WriteFile(filepath.Join(closed, "belay", "config.toml"), []byte("max_retries = 3"), 0o600))
	must.OK(t, os.Chmod(closed, 0))
	defer os.Chmod(closed, 0o700)
	t.Setenv("XDG_CONFIG_HOME", closed)
	if os.Geteuid() == 0 { // root may go anywhere
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		unix.SetfsuidRetUid(65534)
		defer unix.SetfsuidRetUid(0)
	}
	s, _, err := config.Load(nil, "generic")
	must.OK(t, err)
	if w := s.Warning(always); s.MaxRetries != 0 || !strings.HasSuffix(w, "config.toml is ignored: it cannot be reached: permission denied") {
		t.Errorf("%d retries, %q", s.MaxRetries, w)
	}
}
