package detach

import (
	"os"
	"path/filepath"
	"testing"
)

// The inhibitor is held by a pipe, and has answered before anything begins.
func TestKeepAwake(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	for text, works := range map[string]bool{"#!/bin/sh\nexec /bin/cat\n": true, "#!/bin/sh\nexit 1\n": false} {
		if err := os.WriteFile(filepath.Join(bin, "systemd-inhibit"), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := KeepAwake(); (err == nil) != works {
			t.Errorf("%q: %v", text, err)
		}
		awake.Close() // which ends it
	}
}
