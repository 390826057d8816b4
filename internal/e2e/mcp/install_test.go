//go:build linux

package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// install runs a command on configurations of its own, and returns what it has printed and its exit code.
func (s *stage) install(home string, args ...string) (string, int) {
	cmd := s.command("", append([]string{"mcp"}, args...)...)
	cmd.Env = append(cmd.Env, "HOME="+home, "CODEX_HOME="+filepath.Join(home, ".codex"), "CLAUDE_CONFIG_DIR=")
	cmd.Dir, cmd.Stderr = home, nil
	out, _ := cmd.CombinedOutput()
	return string(out), cmd.ProcessState.ExitCode()
}

func TestInstall_AndBack(t *testing.T) {
	s := newStage(t)
	home := t.TempDir()
	os.Mkdir(filepath.Join(home, ".codex"), 0o700)
	os.Mkdir(filepath.Join(home, ".gemini"), 0o700)
	os.MkdirAll(filepath.Join(home, ".config", "opencode"), 0o700)
	for _, tt := range []struct{ client, scope, file, before string }{
		{"claude", "user", ".claude.json", "{\n  \"numStartups\": 1,\n  \"mcpServers\": {\n    \"fs\": {\n      \"command\": \"npx\",\n      \"args\": [\"-y\", \"fs\"]\n    },\n    \"web\": {\"type\": \"http\", \"url\": \"u\"}\n  }\n}\n"},
		{"claude", "project", ".mcp.json", `{"mcpServers":{"a":{"command":"a"}}}`},
		{"codex", "user", ".codex/config.toml", "# mine\n[mcp_servers.fs]\ncommand = \"npx\" # here\nargs = [\n  \"-y\", # yes\n]\n"},
		{"gemini", "user", ".gemini/settings.json", "{\n  \"mcpServers\": {\n    \"fs\": {\"command\": \"npx\", \"args\": [\"-y\"], \"timeout\": 60000}, // mine\n    \"web\": {\"httpUrl\": \"u\"}\n  }\n}\n"},
		{"opencode", "user", ".config/opencode/opencode.json", "{\n  // mine\n  \"mcp\": {\n    \"fs\": {\"type\": \"local\", \"command\": [\"npx\", \"-y\", \"fs\"], \"timeout\": 60000},\n    \"web\": {\"type\": \"remote\", \"url\": \"u\"},\n  },\n}\n"},
	} {
		path := filepath.Join(home, tt.file)
		os.WriteFile(path, []byte(tt.before), 0o640)
		is := func(what, want string) {
			t.Helper()
			if got, _ := os.ReadFile(path); string(got) != want {
				t.Errorf("%s: %s is\n%s", what, tt.file, got)
			}
		}
		args := []string{"--client", tt.client, "--scope", tt.scope}
		out, code := s.install(home, append([]string{"install", "--dry-run"}, args...)...)
		if code != 0 || !strings.Contains(out, "\n+") || !strings.Contains(out, "\n-") {
			t.Errorf("%d, %s", code, out)
		}
		is("dry run", tt.before)
		if out, code := s.install(home, append([]string{"install"}, args...)...); code != 0 || !strings.Contains(out, "is now behind belay") {
			t.Errorf("%d, %s", code, out)
		}
		if info, _ := os.Stat(path); info.Mode().Perm() != 0o640 {
			t.Errorf("%v", info.Mode())
		}
		if out, code := s.install(home, append([]string{"install"}, args...)...); code != 0 || !strings.Contains(out, "nothing to change") {
			t.Errorf("%d, %s", code, out)
		}
		if out, code := s.install(home, append([]string{"status"}, args...)...); code != 0 || !strings.Contains(out, "behind belay") {
			t.Errorf("%d, %s", code, out)
		}
		if out, code := s.install(home, append([]string{"uninstall"}, args...)...); code != 0 {
			t.Errorf("%d, %s", code, out)
		}
		is("and back", tt.before)
	}
}

func TestInstall_BrokenFileIsLeftAlone(t *testing.T) {
	s := newStage(t)
	home := t.TempDir()
	broken := "{\n  \"mcpServers\": {,}\n}"
	os.WriteFile(filepath.Join(home, ".claude.json"), []byte(broken), 0o600)
	out, code := s.install(home, "install", "--client", "claude")
	if code != 125 || !strings.Contains(out, "line 2, column 18") || !strings.Contains(out, "was not changed") {
		t.Errorf("%d, %s", code, out)
	}
	if got, _ := os.ReadFile(filepath.Join(home, ".claude.json")); string(got) != broken {
		t.Errorf("%s", got)
	}
	// There is none of codex, which is no failure.
	for _, what := range []string{"install", "uninstall", "status"} {
		if out, code := s.install(home, what, "--client", "codex"); code != 0 || !strings.Contains(out, ".codex/config.toml") {
			t.Errorf("%s: %d, %s", what, code, out)
		}
	}
}

// A file that others share has no path of this machine in it, and a server that is not there is the caller's mistake.
func TestInstall_SharedFileAndWrongName(t *testing.T) {
	s := newStage(t)
	home := t.TempDir()
	path := filepath.Join(home, ".mcp.json")
	os.WriteFile(path, []byte(`{"mcpServers":{"github":{"command":"npx","args":["x"]}}}`), 0o600)
	if out, code := s.install(home, "install", "--client", "claude", "--scope", "project", "gihtub"); code != 2 || !strings.Contains(out, "did you mean github?") {
		t.Errorf("%d, %s", code, out)
	}
	out, code := s.install(home, "install", "--client", "claude", "--scope", "project")
	for _, want := range []string{"github is now behind belay", ".mcp.json.belay-backup", "restart claude", "needs belay on the PATH"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("%d, no %q in %s", code, want, out)
		}
	}
	if got, _ := os.ReadFile(path); !strings.Contains(string(got), `{"command":"belay","args":["mcp"`) {
		t.Errorf("%s", got)
	}
}
