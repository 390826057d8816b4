//go:build unix

package hook_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/command/commandtest"
)

const hookInput = `{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`

// What a hook decides on purpose reaches the client as it is. What goes wrong with it does not block, and is on record.
func TestHook(t *testing.T) {
	commandtest.Place(t)
	for _, tt := range []struct {
		name, script, flags string
		code                int
		stdout, stderr      string
	}{
		{"Allows", "exit 0", "", 0, "", ""},
		{"Answers", `echo '{"decision":"approve"}'`, "", 0, `{"decision":"approve"}` + "\n", ""},
		{"Blocks", "echo not that >&2; exit 2", "", 2, "", "not that\n"},
		{"ReadsItsInput", `grep -q '"tool_name":"Bash"' || exit 2`, "", 0, "", ""},
		{"Crashes", "echo oops >&2; exit 1", "", 0, "", "belay hook: "},
		{"CrashesClosed", "exit 1", "--fail-closed", 2, "", "belay hook: "},
		{"BrokenJSON", `echo '{"decision":'`, "", 0, "", "belay hook: "},
		{"Hangs", "sleep 60", "--timeout 100ms", 0, "", "belay hook: "},
		{"HangsClosed", "sleep 60", "--timeout=100ms --fail-closed --name slow", 2, "", "belay hook: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			commandtest.Place(t)
			commandtest.Script(t, "guard", tt.script)
			args := append(append([]string{"hook"}, strings.Fields(tt.flags)...), "--", "guard")
			got := commandtest.Call(t, t.Context(), strings.NewReader(hookInput), args...).Ends(tt.code)
			if got.Stdout != tt.stdout || !strings.Contains(got.Stderr, tt.stderr) {
				t.Errorf("%q, %q", got.Stdout, got.Stderr)
			}
			log, err := os.ReadFile(filepath.Join(os.Getenv("BELAY_STATE_DIR"), "log.jsonl"))
			if failed := strings.HasPrefix(tt.stderr, "belay hook:"); failed != (err == nil && len(log) > 0) {
				t.Errorf("on record: %s, %v", log, err)
			}
		})
	}
	commandtest.Belay(t, "hook", "--", "nosuchcommand").Ends(0).Prints().Says("belay hook: ", "nosuchcommand")
	commandtest.Belay(t, "hook", "--fail-closed", "--", "nosuchcommand").Ends(2).Prints().Says("nosuchcommand")
}

// One that fails again and again raises an alert, once.
func TestHook_RaisesAnAlert(t *testing.T) {
	commandtest.Place(t)
	commandtest.Script(t, "guard", "exit 1")
	said := 0
	for range 7 {
		said += strings.Count(commandtest.Belay(t, "hook", "--", "guard").Ends(0).Stderr, "alert: hook:guard failed 5 times in the last 10m. See: belay log --kind hook")
	}
	if said != 1 {
		t.Errorf("it was said %d times", said)
	}
	if log := commandtest.Read(t, filepath.Join(os.Getenv("BELAY_STATE_DIR"), "log.jsonl")); strings.Count(log, `"raised"`) != 1 {
		t.Errorf("on record: %s", log)
	}
}

// A client that has given up stops the hook with it.
func TestHook_EndsWithItsContext(t *testing.T) {
	commandtest.Place(t)
	commandtest.Script(t, "guard", "echo > started; sleep 60")
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan commandtest.Outcome, 1)
	go func() { over <- commandtest.Call(t, ctx, strings.NewReader(hookInput), "hook", "--", "guard") }()
	commandtest.Appears(t, "started")
	cancel()
	select {
	case got := <-over:
		got.Ends(0).Prints().Says("belay hook: guard was interrupted; continuing without it\n")
	case <-time.After(commandtest.Timeout):
		t.Fatal("it does not end")
	}
}

const hookSettings = `{
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "./guard.py --strict", "timeout": 10}]},
      {"hooks": [{"type": "prompt", "prompt": "ok?"}]}
    ],
    "Stop": [{"hooks": [{"type": "command", "command": "notify", "onFailure": "block"}]}]
  }
}
`

// Install puts belay in front of every hook, is told apart from what was put there by hand, and is undone to the byte.
func TestHook_InstallAndUninstall(t *testing.T) {
	dir := commandtest.Place(t)
	commandtest.Belay(t, "hook", "status").Ends(0).Says().Prints("No hooks.\n", "Looked in:\n", commandtest.Home(".claude", "settings.json")+" (claude, user): not found\n",
		filepath.Join(dir, ".claude", "settings.local.json")+" (claude, local): not found\n", filepath.Join(dir, ".codex", "config.toml")+" (codex, project): not found\n")
	commandtest.Belay(t, "hook", "install", "--client", "claude").Ends(0).Prints("No hooks to put belay in front of: ", "does not exist.\n")
	commandtest.Belay(t, "hook", "uninstall", "--client", "claude").Ends(0).Prints("does not exist.\n")

	path := commandtest.Write(t, commandtest.Home(".claude", "settings.json"), hookSettings, 0o600)
	commandtest.Belay(t, "hook", "install", "--client", "claude", "--dry-run").Ends(0).Says().Prints("+++", "./guard.py --strict")
	if commandtest.Read(t, path) != hookSettings {
		t.Fatal("a dry run has changed the file")
	}
	commandtest.Belay(t, "hook", "install", "--client", "claude").Ends(0).Says().Prints("belay is now in front of 2 hooks in "+path, "Note: open sessions")
	installed := commandtest.Read(t, path)
	if !strings.Contains(installed, " hook ") || !strings.Contains(installed, "--timeout 9s") || !strings.Contains(installed, "--fail-closed") || !strings.Contains(installed, `"model": "opus"`) {
		t.Errorf("%s", installed)
	}
	if commandtest.Read(t, path+".belay-backup") != hookSettings {
		t.Error("there is no copy of it")
	}
	commandtest.Belay(t, "hook", "install", "--client", "claude").Ends(0).Prints("Nothing to do in "+path, "2 already behind belay.\n")
	commandtest.Belay(t, "hook", "status").Ends(0).Says().Prints("CLIENT", "claude", "PreToolUse", "Bash", "installed", "no: it ")
	var row struct{ Client, Scope, Event, Belay string }
	first, _, _ := strings.Cut(commandtest.Belay(t, "hook", "status", "--client", "claude", "--scope", "user", "--json").Ends(0).Stdout, "\n")
	if err := json.Unmarshal([]byte(first), &row); err != nil || row.Client != "claude" || row.Scope != "user" || row.Belay != "installed" {
		t.Errorf("%v: %s", err, first)
	}
	commandtest.Belay(t, "hook", "uninstall", "--client", "claude", "--dry-run").Ends(0).Prints("---")
	commandtest.Belay(t, "hook", "uninstall", "--client", "claude").Ends(0).Says().Prints("belay is no longer in front of 2 hooks in " + path)
	if commandtest.Read(t, path) != hookSettings {
		t.Errorf("it was not undone: %s", commandtest.Read(t, path))
	}
	commandtest.Belay(t, "hook", "uninstall", "--client", "claude").Ends(0).Prints("Nothing to undo in " + path)

	// In a project, for all who work on it; and what stands there by hand stays.
	project := commandtest.Write(t, filepath.Join(dir, ".claude", "settings.json"), strings.Replace(hookSettings, "./guard.py", "belay hook -- ./guard.py", 1), 0o600)
	commandtest.Belay(t, "hook", "install", "--client", "claude", "--scope", "project").Ends(0).Prints("belay is now in front of 1 hook in ", "everyone who works on this project now needs belay on the PATH")
	commandtest.Belay(t, "hook", "status", "--scope", "project").Ends(0).Prints("by hand", "installed")
	commandtest.Belay(t, "hook", "uninstall", "--client", "claude", "--scope", "project").Ends(0).Prints("not changed because belay was put there by hand")
	if !strings.Contains(commandtest.Read(t, project), "belay hook -- ./guard.py") {
		t.Error("it is gone")
	}
}

func TestHook_InstallForCodex(t *testing.T) {
	commandtest.Place(t)
	path := commandtest.Write(t, commandtest.Home(".codex", "hooks.json"), `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "notify"}]}]}}`, 0o600)
	commandtest.Write(t, commandtest.Home(".codex", "config.toml"), "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"other\"\n", 0o600)
	commandtest.Belay(t, "hook", "install", "--client", "codex").Ends(0).Prints("belay is now in front of 1 hook in "+path, "type /hooks", "config.toml also has 1 hook, which belay does not change")
	commandtest.Belay(t, "hook", "status", "--client", "codex").Ends(0).Prints("installed", "no: it is in config.toml, which belay does not change", path+" (codex, user): 1 hook\n")
	commandtest.Belay(t, "hook", "uninstall", "--client", "codex").Ends(0).Prints("no longer in front of 1 hook")
	t.Setenv("SHELL", "/usr/bin/fish")
	commandtest.Belay(t, "hook", "install", "--client", "codex").Ends(125).Says("belay cannot quote for fish; put 'belay hook --' in front of a command by hand")
}

// A file that cannot be understood is left as it is, and does not hide the others.
func TestHook_DamagedSettings(t *testing.T) {
	dir := commandtest.Place(t)
	path := commandtest.Write(t, commandtest.Home(".claude", "settings.json"), `{"hooks": {`, 0o600)
	commandtest.Write(t, filepath.Join(dir, ".claude", "settings.json"), hookSettings, 0o600)
	commandtest.Belay(t, "hook", "install", "--client", "claude").Ends(125).Prints().Says(path, "the file was not changed")
	commandtest.Belay(t, "hook", "status").Ends(125).Prints("PreToolUse", path+" (claude, user): cannot be read\n").Says(path)
	if commandtest.Read(t, path) != `{"hooks": {` {
		t.Error("it was changed")
	}
	commandtest.Write(t, path, "// mine\n"+hookSettings, 0o600)
	commandtest.Belay(t, "hook", "install", "--client", "claude").Ends(0).Prints("Warning: "+path+" has a comment at ", "claude does not read settings from a file with comments")
}
