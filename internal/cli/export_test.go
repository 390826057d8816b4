package cli

import "testing"

// SetExecutable has belay believe, for the time of a test, that its executable is there.
func SetExecutable(t *testing.T, path string) {
	before := executable
	executable = func() (string, error) { return path, nil }
	t.Cleanup(func() { executable = before })
}
