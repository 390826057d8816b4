package supervise_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

func TestDetach(t *testing.T) {
	t.Setenv(supervise.RunIDVar, "somebody")
	file := filepath.Join(t.TempDir(), "said")
	script := `echo "sid $(ps -o sid= -p $$ 2>/dev/null | tr -d ' ') pid $$ dir $PWD mark ${BELAY_RUN_ID-none}" > "$0.new"; mv "$0.new" "$0"`
	must.OK(t, supervise.Detach("/bin/sh", []string{"sh", "-c", script, file}))
	eventually(t, "it runs", func() bool { _, err := os.Stat(file); return err == nil })
	said, _ := os.ReadFile(file)
	if text := string(said); !strings.Contains(text, " dir / mark none") {
		t.Errorf("%q", text)
	}
	if err := supervise.Detach(filepath.Join(t.TempDir(), "none"), []string{"none"}); err == nil {
		t.Error("what is not there was started")
	}
}

// What is waited for has ended afterwards, by itself or because it took too long.
func TestDetachFor(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "said")
	if err := supervise.DetachFor(time.Minute, "/bin/sh", []string{"sh", "-c", `sleep 0.1; echo done > "$0"`, file}); err != nil || !exists(file) {
		t.Errorf("%v", err)
	}
	supervise.DetachFor(time.Second, "/bin/sh", []string{"sh", "-c", `echo $$ > "$0"; exec sleep 300`, file})
	pid, err := os.ReadFile(file)
	if err != nil || exists("/proc/"+strings.TrimSpace(string(pid))) {
		t.Errorf("%q is still there, %v", pid, err)
	}
	if err := supervise.DetachFor(time.Second, filepath.Join(t.TempDir(), "none"), []string{"none"}); err == nil {
		t.Error("what is not there was started")
	}
}
