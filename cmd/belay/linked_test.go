//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// Templates find methods by their names. An executable that has them keeps every method of every type, which were 1.4 MB of belay; cobra, which imports them, only needs them
// if it is given one.
func TestLinked_NoTemplates(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(binDir, "belay"))
	must.OK(t, err)
	if !bytes.Contains(data, []byte("internal/command/belay.newRoot")) {
		t.Fatal("the executable has no names of functions")
	}
	if bytes.Contains(data, []byte("text/template.(*Template).Execute")) {
		t.Error("belay links text/template: which command sets a template of cobra's?")
	}
}
