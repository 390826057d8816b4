//go:build unix

package custom

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// A pipe in the place of a record is not waited for.
func TestRecord_Pipe(t *testing.T) {
	d := toy()
	d.HomeDir, d.Record = ".toy", "{session}.jsonl"
	home := t.TempDir()
	must.OK(t, os.MkdirAll(filepath.Join(home, ".toy"), 0o700))
	must.OK(t, syscall.Mkfifo(filepath.Join(home, ".toy", session+".jsonl"), 0o600))
	if f, _ := newProfile(d, []string{"toy", "hi"}, []string{"HOME=" + home}, "").recordOf(session); f != nil {
		t.Error("a pipe is taken for a record")
	}
}
