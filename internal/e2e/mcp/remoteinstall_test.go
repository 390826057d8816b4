//go:build linux

package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/profile"
)

// remoteFiles are the files of clients with a server that is called over the network, and a command of the client that starts what has
// become of it.
var remoteFiles = []struct {
	client, file, text string
	list               []string
	connected          string
}{
	{"claude", ".claude.json", `{
  "mcpServers": {
    "lab": {
      "type": "http",
      "url": "https://lab.example/mcp",
      "headers": {
        "Authorization": "Bearer ${LAB_TOKEN}",
        "X-Lab": "s3cret"
      },
      "alwaysLoad": true,
      "unknown": "kept"
    }
  }
}
`, []string{"mcp", "list"}, "Connected"},
	{"gemini", ".gemini/settings.json", `{
  // mine
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "mcpServers": {"lab": {"httpUrl": "https://lab.example/mcp", "headers": {"Authorization": "Bearer $LAB_TOKEN", "X-Lab": "s3cret"}, "trust": true}}
}
`, []string{"mcp", "list"}, "(stdio) - Connected"},
	{"opencode", ".config/opencode/opencode.jsonc", `{
  "$schema": "https://opencode.ai/config.json", // mine
  "mcp": {"lab": {"type": "remote", "url": "https://lab.example/mcp", "headers": {"Authorization": "Bearer {env:LAB_TOKEN}", "X-Lab": "s3cret",},},},
}
`, []string{"mcp", "list"}, "connected"},
	{"codex", ".codex/config.toml", "[mcp_servers.lab]\nurl = 'https://lab.example/mcp' # mine\nenv_http_headers = { \"Authorization\" = \"LAB_TOKEN\" }\nrequired = true\n[mcp_servers.lab.http_headers]\n\"X-Lab\" = \"s3cret\"\n",
		[]string{"mcp", "list", "--json"}, `"env_vars": [`},
}

// The real clients start what a server over HTTP has become, with its headers in variables, as they expand them, and nothing of them on
// the command line. Afterwards the file is what it was.
func TestInstall_RemoteInRealClients(t *testing.T) {
	for _, tt := range remoteFiles {
		t.Run(tt.client, func(t *testing.T) {
			if !full && (tt.client == "gemini" || tt.client == "opencode") {
				t.Skip("it starts slowly; only in make test-full")
			}
			u := newUser(t)
			cli := clitest.Find(t, profile.Find(tt.client), "")
			path, belay, seen := filepath.Join(u.home, tt.file), filepath.Join(u.home, "bin", "belay"), filepath.Join(u.home, "seen")
			u.env = append(u.env, "LAB_TOKEN=t0ken", "GEMINI_API_KEY=x", "GEMINI_CLI_TRUST_WORKSPACE=true", "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "OPENCODE_CONFIG_DIR=")
			u.puts(path, tt.text)
			u.puts(belay, "")
			os.Remove(belay)
			if err := os.Link(belayPath(), belay); err != nil {
				t.Skip(err)
			}
			u.says(u.calls(u.repo, belay, "mcp", "install", "--client", tt.client), "lab is now behind belay\n")
			u.says(u.calls(u.repo, belay, "mcp", "status", "--client", tt.client, "--scope", "user"), "lab                  behind belay\n")

			// What stands in for belay says how it was called, and is a server itself.
			os.Remove(belay)
			u.puts(belay, "#!/bin/sh\n{ echo \"$@\"; env | grep -e BELAY_HEADER -e LAB_TOKEN; } >"+seen+"\nexec "+probePath()+"\n")
			u.says(u.calls(u.repo, cli, tt.list...), tt.connected)
			if tt.client != "codex" { // which lists servers without starting them
				called := u.read("seen")
				line, _, _ := strings.Cut(called, "\n")
				u.says(line, "mcp --name=lab ", "--header-env Authorization=BELAY_HEADER_AUTHORIZATION", "--url https://lab.example/mcp")
				u.says(called, "BELAY_HEADER_AUTHORIZATION=Bearer t0ken\n", "BELAY_HEADER_X_LAB=s3cret\n")
				if strings.Contains(line, "s3cret") || strings.Contains(line, "t0ken") {
					t.Errorf("a credential is on the command line: %s", line)
				}
			}
			u.says(u.calls(u.repo, belayPath(), "mcp", "uninstall", "--client", tt.client), "lab is called directly again\n")
			want := tt.text
			if tt.client == "claude" { // which adds to its file
				want = strings.TrimSuffix(want, "\n}\n")
			}
			if now := u.read(tt.file); !strings.HasPrefix(now, want) || tt.client != "claude" && now != want {
				t.Errorf("%s\nwant\n%s", now, want)
			}
		})
	}
}

// codex starts it with the variables that it was told to hand on: it hands on no others.
func TestInstall_RemoteInCodex(t *testing.T) {
	s := newStage(t)
	cli := clitest.Codex(t, "")
	api := s.rehearsal(`200(text=done)`)
	home := filepath.Join(api.Dir(), "home")
	u := &user{s, home, s.TempDir()}
	u.env = append(u.env, "LAB_TOKEN=t0ken")
	config := filepath.Join(home, ".codex", "config.toml")
	before := u.read(".codex/config.toml") + "\n" + remoteFiles[3].text
	u.puts(config, before)
	u.calls(u.repo, belayPath(), "mcp", "install", "--client", "codex")
	seen := filepath.Join(home, "seen")
	belay := filepath.Join(home, "standin")
	u.puts(belay, "#!/bin/sh\n{ echo \"$@\"; env | grep -e BELAY_HEADER -e LAB_TOKEN; } >"+seen+"\nexec "+probePath()+"\n")
	installed := u.read(".codex/config.toml")
	u.puts(config, strings.Replace(installed, belayPath(), belay, 1))
	s.agent(cli, "exec", "--skip-git-repo-check", "hi")
	u.says(u.read("seen"), "--header-env X-Lab=BELAY_HEADER_X_LAB --header-env Authorization=LAB_TOKEN --url https://lab.example/mcp\n", "BELAY_HEADER_X_LAB=s3cret\n", "LAB_TOKEN=t0ken\n")
	u.puts(config, installed)
	u.calls(u.repo, belayPath(), "mcp", "uninstall", "--client", "codex")
	if now := u.read(".codex/config.toml"); now != before {
		t.Errorf("%s\nwant\n%s", now, before)
	}
}

// puts writes a file that may be executed.
func (u *user) puts(path, text string) {
	u.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		u.Fatal(err)
	}
	if err := built.WriteFile(path, []byte(text)); err != nil {
		u.Fatal(err)
	}
}
