package opencode_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent/opencode"
	"github.com/belay-run/belay/internal/test/must"
)

// The gate is that of the service and the account that opencode will use.
func TestGate(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		path := filepath.Join(dir, name)
		os.MkdirAll(filepath.Dir(path), 0o700)
		must.OK(t, os.WriteFile(path, []byte(content), 0o600))
	}
	write("home/.config/opencode/opencode.json", `{ // mine
		"model": "corp/gpt", /* and */ "provider": {"corp": {"options": {"baseURL": "https://LLM.corp.example/v1//", "apiKey": "{env:CORP_KEY}",},},},
	}`)
	write("project/opencode.jsonc", `{"model": "anthropic/claude"}`)
	write("project/.git/HEAD", "")
	os.MkdirAll(filepath.Join(dir, "project", "sub"), 0o700)
	os.MkdirAll(filepath.Join(dir, "empty", ".git"), 0o700)
	base := []string{"HOME=" + filepath.Join(dir, "home")}
	key := func(where, line string, env ...string) string {
		p := opencode.New(strings.Fields("opencode "+line), append(base, env...), filepath.Join(dir, where))
		return p.Info().Gate + " " + p.Info().Provider
	}
	for name, tt := range map[string]struct{ got, want string }{
		"Config":      {key("empty", "run hi"), "opencode:llm.corp.example:"},
		"Project":     {key("project/sub", "run hi"), "opencode:provider-anthropic:"},
		"CommandLine": {key("project", "run -m openai/gpt hi"), "opencode:provider-openai:"},
		"Environment": {key("project", "run hi", `OPENCODE_CONFIG_CONTENT={"model":"x/y","provider":{"x":{"options":{"baseURL":"http://127.0.0.1:4711/v1"}}}}`), "opencode:127.0.0.1:4711:"},
		"Broken":      {key("empty", "run hi", `OPENCODE_CONFIG_CONTENT={"model":`), "opencode:llm.corp.example:"},
	} {
		if !strings.HasPrefix(tt.got, tt.want) {
			t.Errorf("%s: %s", name, tt.got)
		}
	}
	if key("empty", "run hi", "CORP_KEY=one") == key("empty", "run hi", "CORP_KEY=two") {
		t.Error("two accounts have one gate")
	}
	if a, b := key("project", "run hi", "ANTHROPIC_API_KEY=one"), key("project", "run hi", "ANTHROPIC_API_KEY=two"); a == b || strings.Contains(a, "one") || !strings.HasSuffix(a, " anthropic") {
		t.Errorf("%s, %s", a, b)
	}
	if opencode.New([]string{"opencode", "run"}, nil, "").Info().Gate == "" {
		t.Error("no gate")
	}
}
