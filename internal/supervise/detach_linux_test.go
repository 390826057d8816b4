package supervise_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/supervise"
)

func TestDetach(t *testing.T) {
	t.Setenv(supervise.RunIDVar, "somebody")
	file := filepath.Join(t.TempDir(), "said")
	script := `echo "sid $(ps -o sid= -p $$ 2>/dev/null | tr -d ' ') pid $$ dir $PWD mark ${BELAY_RUN_ID-none}" > "$0.new"; mv "$0.new" "$0"`
	if err := supervise.Detach("/bin/sh", []string{"sh", "-c", script, file}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it runs", func() bool { _, err := os.Stat(file); return err == nil })
	said, _ := os.ReadFile(file)
	if text := string(said); !strings.Contains(text, " dir / mark none") {
		t.Errorf("%q", text)
	}
	if err := supervise.Detach(filepath.Join(t.TempDir(), "none"), []string{"none"}); err == nil {
		t.Error("what is not there was started")
	}
}
