//go:build unix

package hook_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/command/commandtest"
)

// Clients without hooks say what they have in their place.
func TestHook_InstallForEditors(t *testing.T) {
	dir := commandtest.Place(t)
	t.Setenv("SHELL", "/bin/bash")
	commandtest.Belay(t, "hook", "install", "--client", "vscode").Ends(2).Says("the hooks of vscode are those of other clients, or in .github/hooks; belay does not change these")
	commandtest.Belay(t, "hook", "install", "--client", "opencode").Ends(2).Says("plugins in JavaScript")
	const text = `{"version": 1, "hooks": {"stop": [{"command": "./stop.sh"}, {"command": "a | b"}]}}`
	path := commandtest.Write(t, filepath.Join(dir, ".cursor", "hooks.json"), text, 0o600)
	installed := commandtest.Belay(t, "hook", "install", "--client", "cursor", "--scope", "project").Ends(0).Prints("belay is now in front of 1 hook in ", "hooks.json:1: not changed because it is more than one command, or a command of the shell itself\n")
	if strings.Contains(installed.Stdout, "Note: .") {
		t.Errorf("a note that says nothing: %s", installed.Stdout)
	}
	commandtest.Belay(t, "hook", "status", "--client", "cursor").Ends(0).Prints("installed", "belay hook --name stop.sh --timeout 59s -- ./stop.sh")
	commandtest.Belay(t, "hook", "uninstall", "--client", "cursor", "--scope", "project").Ends(0)
	if commandtest.Read(t, path) != text {
		t.Errorf("it was not undone: %s", commandtest.Read(t, path))
	}
}
