//go:build unix

package agent_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/test/must"
)

// A named pipe, or a link to one, is unknown; a link to a login is one, and nothing is there where a link leads nowhere.
func TestStoredLogin_Hostile(t *testing.T) {
	path := func(name string) string { return filepath.Join(t.TempDir(), name) }
	pipe, file := path("pipe"), path("file")
	must.OK(t, syscall.Mkfifo(pipe, 0o600))
	must.OK(t, os.WriteFile(file, []byte("{}"), 0o600))
	look := func(target string) agent.LoginState {
		link := path("link")
		must.OK(t, os.Symlink(target, link))
		return agent.StoredLogin{Path: link, Expires: []string{"x"}}.Look()
	}
	if nowhere := look(path("nowhere")); look(pipe) != (agent.LoginState{}) || !nowhere.Replaced(look(file)) || look(pipe).Replaced(look(file)) {
		t.Error("a link is not taken for what it leads to")
	}
}
