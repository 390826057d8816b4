package cli

import (
	"testing"

	"github.com/belay-run/belay/internal/command"
)

// SetExecutable has belay believe, for the time of a test, that its executable is there.
func SetExecutable(t *testing.T, path string) {
	before := command.Executable
	command.Executable = func() (string, error) { return path, nil }
	t.Cleanup(func() { command.Executable = before })
}
