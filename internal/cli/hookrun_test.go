//go:build unix

package cli_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const hookInput = `{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`

// What a hook decides on purpose reaches the client as it is. What goes wrong with it does not block, and is on record.
func TestHook(t *testing.T) {
	place(t)
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
			place(t)
			script(t, "guard", tt.script)
			args := append(append([]string{"hook"}, strings.Fields(tt.flags)...), "--", "guard")
			got := call(t, t.Context(), strings.NewReader(hookInput), args...).ends(tt.code)
			if got.stdout != tt.stdout || !strings.Contains(got.stderr, tt.stderr) {
				t.Errorf("%q, %q", got.stdout, got.stderr)
			}
			log, err := os.ReadFile(filepath.Join(os.Getenv("BELAY_STATE_DIR"), "log.jsonl"))
			if failed := strings.HasPrefix(tt.stderr, "belay hook:"); failed != (err == nil && len(log) > 0) {
				t.Errorf("on record: %s, %v", log, err)
			}
		})
	}
	belay(t, "hook", "--", "nosuchcommand").ends(0).prints().says("belay hook: ", "nosuchcommand")
	belay(t, "hook", "--fail-closed", "--", "nosuchcommand").ends(2).prints().says("nosuchcommand")
}

// One that fails again and again raises an alert, once.
func TestHook_RaisesAnAlert(t *testing.T) {
	place(t)
	script(t, "guard", "exit 1")
	said := 0
	for range 7 {
		said += strings.Count(belay(t, "hook", "--", "guard").ends(0).stderr, "alert: hook:guard failed 5 times in the last 10m. See: belay events")
	}
	if said != 1 {
		t.Errorf("it was said %d times", said)
	}
	if log := read(t, filepath.Join(os.Getenv("BELAY_STATE_DIR"), "log.jsonl")); strings.Count(log, `"raised"`) != 1 {
		t.Errorf("on record: %s", log)
	}
}

// A client that has given up stops the hook with it.
func TestHook_EndsWithItsContext(t *testing.T) {
	place(t)
	script(t, "guard", "echo > started; sleep 60")
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan outcome, 1)
	go func() { over <- call(t, ctx, strings.NewReader(hookInput), "hook", "--", "guard") }()
	appears(t, "started")
	cancel()
	select {
	case got := <-over:
		got.ends(0).prints().says("belay hook: guard was interrupted; continuing without it\n")
	case <-time.After(testTimeout):
		t.Fatal("it does not end")
	}
}

// appears waits for a file.
func appears(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(testTimeout); ; {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not appear", path)
		}
		time.Sleep(time.Millisecond)
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
	dir := place(t)
	belay(t, "hook", "status").ends(0).says().prints("No hooks.\n", "Looked in:\n", home(".claude", "settings.json")+" (claude, user): not found\n",
		filepath.Join(dir, ".claude", "settings.local.json")+" (claude, local): not found\n", filepath.Join(dir, ".codex", "config.toml")+" (codex, project): not found\n")
	belay(t, "hook", "install", "--client", "claude").ends(0).prints("No hooks to put belay in front of: ", "does not exist.\n")
	belay(t, "hook", "uninstall", "--client", "claude").ends(0).prints("does not exist.\n")

	path := write(t, home(".claude", "settings.json"), hookSettings, 0o600)
	belay(t, "hook", "install", "--client", "claude", "--dry-run").ends(0).says().prints("+++", "./guard.py --strict")
	if read(t, path) != hookSettings {
		t.Fatal("a dry run has changed the file")
	}
	belay(t, "hook", "install", "--client", "claude").ends(0).says().prints("belay is now in front of 2 hooks in "+path, "Note: open sessions")
	installed := read(t, path)
	if !strings.Contains(installed, " hook ") || !strings.Contains(installed, "--timeout 9s") || !strings.Contains(installed, "--fail-closed") || !strings.Contains(installed, `"model": "opus"`) {
		t.Errorf("%s", installed)
	}
	if read(t, path+".belay-backup") != hookSettings {
		t.Error("there is no copy of it")
	}
	belay(t, "hook", "install", "--client", "claude").ends(0).prints("Nothing to do in "+path, "2 already behind belay.\n")
	belay(t, "hook", "status").ends(0).says().prints("CLIENT", "claude", "PreToolUse", "Bash", "installed", "no: it ")
	var row struct{ Client, Scope, Event, Belay string }
	first, _, _ := strings.Cut(belay(t, "hook", "status", "--client", "claude", "--scope", "user", "--json").ends(0).stdout, "\n")
	if err := json.Unmarshal([]byte(first), &row); err != nil || row.Client != "claude" || row.Scope != "user" || row.Belay != "installed" {
		t.Errorf("%v: %s", err, first)
	}
	belay(t, "hook", "uninstall", "--client", "claude", "--dry-run").ends(0).prints("---")
	belay(t, "hook", "uninstall", "--client", "claude").ends(0).says().prints("belay is no longer in front of 2 hooks in " + path)
	if read(t, path) != hookSettings {
		t.Errorf("it was not undone: %s", read(t, path))
	}
	belay(t, "hook", "uninstall", "--client", "claude").ends(0).prints("Nothing to undo in " + path)

	// In a project, for all who work on it; and what stands there by hand stays.
	project := write(t, filepath.Join(dir, ".claude", "settings.json"), strings.Replace(hookSettings, "./guard.py", "belay hook -- ./guard.py", 1), 0o600)
	belay(t, "hook", "install", "--client", "claude", "--scope", "project").ends(0).prints("belay is now in front of 1 hook in ", "everyone who works on this project now needs belay on the PATH")
	belay(t, "hook", "status", "--scope", "project").ends(0).prints("by hand", "installed")
	belay(t, "hook", "uninstall", "--client", "claude", "--scope", "project").ends(0).prints("not changed because belay was put there by hand")
	if !strings.Contains(read(t, project), "belay hook -- ./guard.py") {
		t.Error("it is gone")
	}
}

func TestHook_InstallForCodex(t *testing.T) {
	place(t)
	path := write(t, home(".codex", "hooks.json"), `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "notify"}]}]}}`, 0o600)
	write(t, home(".codex", "config.toml"), "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"other\"\n", 0o600)
	belay(t, "hook", "install", "--client", "codex").ends(0).prints("belay is now in front of 1 hook in "+path, "type /hooks", "config.toml also has 1 hook, which belay does not change")
	belay(t, "hook", "status", "--client", "codex").ends(0).prints("installed", "no: it is in config.toml, which belay does not change", path+" (codex, user): 1 hook\n")
	belay(t, "hook", "uninstall", "--client", "codex").ends(0).prints("no longer in front of 1 hook")
	t.Setenv("SHELL", "/usr/bin/fish")
	belay(t, "hook", "install", "--client", "codex").ends(125).says("belay cannot quote for fish; put 'belay hook --' in front of a command by hand")
}

// A file that cannot be understood is left as it is, and does not hide the others.
func TestHook_DamagedSettings(t *testing.T) {
	dir := place(t)
	path := write(t, home(".claude", "settings.json"), `{"hooks": {`, 0o600)
	write(t, filepath.Join(dir, ".claude", "settings.json"), hookSettings, 0o600)
	belay(t, "hook", "install", "--client", "claude").ends(125).prints().says(path, "the file was not changed")
	belay(t, "hook", "status").ends(125).prints("PreToolUse", path+" (claude, user): cannot be read\n").says(path)
	if read(t, path) != `{"hooks": {` {
		t.Error("it was changed")
	}
	write(t, path, "// mine\n"+hookSettings, 0o600)
	belay(t, "hook", "install", "--client", "claude").ends(0).prints("Warning: "+path+" has a comment at ", "claude does not read settings from a file with comments")
}
