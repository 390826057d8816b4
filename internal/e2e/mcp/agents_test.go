//go:build linux

package mcp_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/clitest"
	_ "github.com/belay-run/belay/internal/config" // has the profiles that are data
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/test/must"
)

// rehearsal is an API that follows a script, for an agent that has servers behind belay.
func (s *stage) rehearsal(script string) *rehearse.API {
	s.Helper()
	dir := filepath.Join(s.TempDir(), "api")
	if err := os.Mkdir(dir, 0o700); err != nil {
		s.Fatal(err)
	}
	api, err := rehearse.Options{Dir: dir}.Start(script)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { api.Close() })
	s.env = append(s.env, api.Environ()...)
	return api
}

// agent runs an agent to its end and returns what it has printed.
func (s *stage) agent(path string, args ...string) string {
	s.Helper()
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = s.TempDir(), s.environ("plain")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &s.stderr
	if err := cmd.Run(); err != nil {
		s.Errorf("%s: %v\n%s", filepath.Base(path), err, out.String())
	}
	return out.String()
}

// heard checks what an agent's model was told by its tools, in order.
func heard(t *testing.T, api *rehearse.API, want ...string) {
	t.Helper()
	main := api.Main()
	if len(main) != len(want)+1 {
		t.Fatalf("%d requests, want %d", len(main), len(want)+1)
	}
	for i, part := range want {
		if got := main[i+1].LastMessage; !strings.Contains(got, part) {
			t.Errorf("tool %d said %.500q, want %q in it", i+1, got, part)
		}
	}
}

// INTEG-02: calls of one CLI to another through a server are answered, whatever becomes of the server. With the real codex, a server that crashes in the middle
// of a run is usable again in the same run. Bare, it is gone for the rest of it.
func TestINTEG02_CodexServerCrashes(t *testing.T) {
	for i, how := range []string{"behind belay", "bare"} {
		if !clitest.OneOf(2, i) {
			continue
		}
		t.Run(how, func(t *testing.T) {
			s := newStage(t)
			path := clitest.Codex(t, "")
			api := s.rehearsal(`tool(mcp__lab__echo: {"text":"one"}), tool(mcp__lab__exit: {"n":3}), tool(mcp__lab__echo: {"text":"two"}), tool(mcp__lab__echo: {"text":"three"}), 200(text=done)`)
			config := filepath.Join(api.Dir(), "home", ".codex", "config.toml")
			file, err := os.OpenFile(config, os.O_APPEND|os.O_WRONLY, 0)
			must.OK(t, err)
			mark, id, _ := strings.Cut(string(s.mark), "=")
			fmt.Fprintf(file, "\n[mcp_servers.lab]\ncommand = %q\nargs = []\nrequired = true\n[mcp_servers.lab.env]\n%s = \"plain\"\n%s = %q\nBELAY_STATE_DIR = %q\n",
				probePath(), serverVar, mark, id, s.state)
			file.Close()
			if how != "bare" {
				cmd := s.command("", "mcp", "install", "--client", "codex")
				if out, err := cmd.Output(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			out := s.agent(path, "exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "go")
			if how == "bare" {
				heard(t, api, "one", "Transport closed", "Transport closed", "Transport closed")
				return
			}
			t.Cleanup(func() {
				if t.Failed() {
					t.Log(out)
				}
			})
			heard(t, api, "one", "exit status 3", "two", "three")
		})
	}
}

// The same with claude, which starts a server again by itself, but tells the model nothing of why it died.
func TestINTEG02_ClaudeServerCrashes(t *testing.T) {
	s := newStage(t)
	path := clitest.Claude(t, "")
	api := s.rehearsal(`tool(mcp__lab__echo: {"text":"one"}), tool(mcp__lab__exit: {"n":3}), tool(mcp__lab__echo: {"text":"two"}), 200(text=done)`)
	config := filepath.Join(api.Dir(), "home", ".claude", ".claude.json")
	text := fmt.Sprintf(`{"mcpServers":{"lab":{"command":%q,"args":[],"env":{"%s":"plain"}}}}`, probePath(), serverVar)
	must.OK(t, os.WriteFile(config, []byte(text), 0o600))
	cmd := s.command("", "mcp", "install", "--client", "claude")
	if out, err := cmd.Output(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out := s.agent(path, "-p", "go", "--allowedTools", "mcp__lab__echo,mcp__lab__exit", "--output-format", "stream-json", "--verbose")
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(out)
		}
	})
	heard(t, api, "one", "exit status 3", "two")
}

// A server over HTTP that is restarted in the middle of a run is used again in the same run.
func TestINTEG02_HTTPServerRestarts(t *testing.T) {
	if !full {
		t.Skip("only in make test-full")
	}
	for _, name := range []string{"claude", "codex"} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			w := s.serve("plain")
			api := s.rehearsal(`tool(mcp__lab__echo: {"text":"one"}), tool(mcp__lab__exit: {"n":3}), tool(mcp__lab__echo: {"text":"two"}), 200(text=done)`)
			var path string
			var args []string
			if name == "claude" {
				path = clitest.Claude(t, "")
				config := filepath.Join(s.TempDir(), "mcp.json")
				text := fmt.Sprintf(`{"mcpServers":{"lab":{"command":%q,"args":["mcp","--name","lab","--url",%q]}}}`, belayPath(), w.url)
				must.OK(t, os.WriteFile(config, []byte(text), 0o600))
				args = []string{"-p", "go", "--mcp-config", config, "--allowedTools", "mcp__lab__echo,mcp__lab__exit", "--output-format", "stream-json", "--verbose"}
			} else {
				path = clitest.Codex(t, "")
				file, err := os.OpenFile(filepath.Join(api.Dir(), "home", ".codex", "config.toml"), os.O_APPEND|os.O_WRONLY, 0)
				must.OK(t, err)
				mark, id, _ := strings.Cut(string(s.mark), "=")
				fmt.Fprintf(file, "\n[mcp_servers.lab]\ncommand = %q\nargs = [\"mcp\", \"--name\", \"lab\", \"--url\", %q]\nrequired = true\n[mcp_servers.lab.env]\n%s = %q\nBELAY_STATE_DIR = %q\n",
					belayPath(), w.url, mark, id, s.state)
				file.Close()
				args = []string{"exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "go"}
			}
			out := s.agent(path, args...)
			t.Cleanup(func() {
				if t.Failed() {
					t.Log(out)
				}
			})
			heard(t, api, "one", "may have taken effect", "two")
			if w.starts < 2 {
				t.Errorf("%d servers", w.starts)
			}
		})
	}
}

// The same with other agents, whose files belay has rows for, or their profiles.
func TestOthers_ServerCrashesMidRun(t *testing.T) {
	if !full {
		t.Skip("only in make test-full")
	}
	for name, tt := range map[string]struct {
		call         string // of a tool, in the way that the agent has for that
		file, server string
		args         []string
	}{
		"gemini": {`mcp_lab_%s: %s`, ".gemini/settings.json",
			`{"security": {"auth": {"selectedType": "gemini-api-key"}}, "mcpServers": {"lab": {"command": %q, "args": [], "env": {"%s": "plain"}, "trust": true}}} // mine`,
			[]string{"--yolo", "-p", "go"}},
		"opencode": {`lab_%s: %s`, ".config/opencode/opencode.jsonc", `{"$schema": "https://opencode.ai/config.json", "mcp": {"lab": {"type": "local", "command": [%q], "environment": {"%s": "plain"}, "enabled": true,}}} // mine`,
			[]string{"run", "go"}},
		"qwen": {`mcp__lab__%s: %s`, ".qwen/settings.json", `{"mcpServers": {"lab": {"command": %q, "args": [], "env": {"%s": "plain"}, "trust": true}}, `,
			[]string{"-y", "-p", "go"}},
		"kimi": {`mcp__lab__%s: %s`, ".kimi-code/mcp.json", `{"mcpServers": {"lab": {"command": %q, "args": [], "env": {"%s": "plain"}}}}`,
			[]string{"-p", "go"}},
		"copilot": {`lab-%s: %s`, ".copilot/mcp-config.json", `{"mcpServers": {"lab": {"type": "local", "tools": ["*"], "command": %q, "args": [], "env": {"%s": "plain"}}}}`,
			[]string{"-p", "go", "--allow-all-tools"}},
		"droid": {`lab___%s: %s`, ".factory/mcp.json", `{"mcpServers": {"lab": {"type": "stdio", "command": %q, "args": [], "env": {"%s": "plain"}, "disabled": false}}}`,
			[]string{"exec", "--skip-permissions-unsafe", "go"}},
		"grok": {`use_tool: {"tool_name":"lab__%s","tool_input":%s}`, ".grok/config.toml", "\n[mcp_servers.lab]\ncommand = %q\nargs = []\n[mcp_servers.lab.env]\n%s = \"plain\"\n",
			[]string{"-p", "go", "--always-approve"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			path := clitest.Find(t, profile.Find(name), "")
			tool := func(tool, input string) string { return "tool(" + fmt.Sprintf(tt.call, tool, input) + "), " }
			api := s.rehearsal(tool("echo", `{"text":"one"}`) + tool("exit", `{"n":3}`) + tool("echo", `{"text":"two"}`) + "200(text=done)")
			home := filepath.Join(api.Dir(), "home")
			s.env = append(s.env, "HOME="+home, "XDG_CONFIG_HOME=", "XDG_DATA_HOME=")
			config := filepath.Join(home, tt.file)
			must.OK(t, os.MkdirAll(filepath.Dir(config), 0o700))
			before := fmt.Sprintf(tt.server, probePath(), serverVar)
			switch own, _ := os.ReadFile(config); { // of the rehearsal
			case strings.HasPrefix(before, "\n"):
				before = string(own) + before
			case strings.HasSuffix(before, ", "):
				before += strings.TrimPrefix(string(own), "{")
			}
			must.OK(t, os.WriteFile(config, []byte(before), 0o600))
			if out, err := s.command("", "mcp", "install", "--client", name).Output(); err != nil {
				t.Fatalf("%v\n%s%s", err, out, s.stderr.String())
			}
			if after, _ := os.ReadFile(config); !strings.Contains(string(after), `"mcp"`) || string(after) == before {
				t.Errorf("%s", after)
			}
			out := s.agent(path, tt.args...)
			t.Cleanup(func() {
				if t.Failed() {
					t.Log(out)
				}
			})
			heard(t, api, "one", "exit status 3", "two")
			if out, err := s.command("", "mcp", "uninstall", "--client", name).Output(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			after, _ := os.ReadFile(config)
			switch name {
			case "grok", "qwen": // which have written it anew
				if text := string(after); strings.Contains(text, belayPath()) || !strings.Contains(text, probePath()) {
					t.Errorf("%s", after)
				}
			default:
				if string(after) != before {
					t.Errorf("%s", after)
				}
			}
		})
	}
}

// One agent as the other's server: claude serves codex, is killed in the middle of a run, and serves again in the same run.
func TestINTEG02_CodexCallsClaude(t *testing.T) {
	s := newStage(t)
	claude, codex := clitest.Claude(t, ""), clitest.Codex(t, "")
	api := s.rehearsal(`tool(mcp__claude__Bash: {"command":"echo words of claude"}), tool(mcp__claude__Bash: {"command":"kill -9 $PPID"}), tool(mcp__claude__Bash: {"command":"echo more words"}), 200(text=done)`)
	file, err := os.OpenFile(filepath.Join(api.Dir(), "home", ".codex", "config.toml"), os.O_APPEND|os.O_WRONLY, 0)
	must.OK(t, err)
	mark, id, _ := strings.Cut(string(s.mark), "=")
	fmt.Fprintf(file, "\n[mcp_servers.claude]\ncommand = %q\nargs = [\"mcp\", \"--name\", \"claude\", \"--\", %q, \"mcp\", \"serve\"]\nrequired = true\n[mcp_servers.claude.env]\n%s = %q\nBELAY_STATE_DIR = %q\n",
		belayPath(), claude, mark, id, s.state)
	file.Close()
	out := s.agent(codex, "exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "go")
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(out)
		}
	})
	heard(t, api, "words of claude", "signal: killed", "more words")
}

// The other way round, and through the proxy, which grants an agent the time that it needs.
func TestINTEG02_ClaudeCallsCodex(t *testing.T) {
	if !full {
		t.Skip("only in make test-full")
	}
	s := newStage(t)
	// The newest codex is no server any more.
	claude, codex := clitest.Claude(t, ""), clitest.Codex(t, profile.Find("codex").Tested[1])
	api := s.rehearsal(`tool(mcp__codex__codex: {"prompt":"say something"}), 200(text="words of codex"), 200(text=done)`)
	config := filepath.Join(s.TempDir(), "mcp.json")
	text := fmt.Sprintf(`{"mcpServers":{"codex":{"command":%q,"args":["mcp","--name","codex","--",%q,"mcp-server"]}}}`, belayPath(), codex)
	must.OK(t, os.WriteFile(config, []byte(text), 0o600))
	out := s.agent(claude, "-p", "go", "--mcp-config", config, "--allowedTools", "mcp__codex__codex", "--output-format", "stream-json", "--verbose")
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(out)
		}
	})
	heard(t, api, "say something", "words of codex")
}
