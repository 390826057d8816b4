package codex

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/test/must"
)

func TestGate(t *testing.T) {
	home := t.TempDir()
	config := `
# model_provider = "commented"
model_provider = "acme" # ours
[model_providers.acme]
name = "Acme"
base_url = "https://user:secret@LLM.acme.example:8443/v1?x=y"
env_key = "ACME_KEY"
request_max_retries = 2
[other]
model_provider = "wrong"
`
	must.OK(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600))
	at, empty := "CODEX_HOME="+home, "CODEX_HOME="+t.TempDir()
	gate := func(env []string, args ...string) string {
		return New(append([]string{"codex", "exec"}, args...), env, "").Info().Gate
	}
	for name, tt := range map[string]struct {
		env  []string
		args string
		host string
	}{
		"nothing said":        {[]string{empty}, "hi", "api.openai.com"},
		"the environment":     {[]string{empty, "OPENAI_BASE_URL=http://127.0.0.1:8080/v1"}, "hi", "127.0.0.1:8080"},
		"-c openai_base_url":  {[]string{empty, "OPENAI_BASE_URL=http://wrong/v1"}, `-c openai_base_url="http://right/v1" hi`, "right"},
		"the config":          {[]string{at}, "hi", "llm.acme.example:8443"},
		"the config, ignored": {[]string{at}, "--ignore-user-config hi", "api.openai.com"},
		"-c over the config":  {[]string{at}, `-c model_providers.acme.base_url=http://mine/v1 hi`, "mine"},
		"-c with a table":     {[]string{at}, `-c model_provider=x -c model_providers.x={name="x",base_url="http://x.example/v1",env_key="K"} hi`, "x.example"},
		"after resume":        {[]string{at}, `resume -c model_providers.acme.base_url='http://mine/v1' --last`, "mine"},
		"a provider built in": {[]string{empty}, "-c model_provider=azure hi", "provider-azure"},
		"open source":         {[]string{empty}, "--oss hi", "provider-oss"},
	} {
		parts := strings.SplitN(gate(tt.env, words(tt.args)...), ":", 2)
		host := parts[1][:strings.LastIndexByte(parts[1], ':')]
		if parts[0] != "codex" || host != tt.host {
			t.Errorf("%s: %q", name, parts)
		}
	}
	// Whose limits they are: the key's, the provider's key's, the login's.
	accounts := map[string]string{}
	for name, env := range map[string][]string{
		"login":           {at},
		"key":             {at, "CODEX_API_KEY=sk-one"},
		"another key":     {at, "CODEX_API_KEY=sk-two"},
		"provider's key":  {at, "ACME_KEY=sk-three", "CODEX_API_KEY=sk-one"},
		"another login":   {empty, "OPENAI_BASE_URL=https://llm.acme.example:8443"},
		"no home at all":  {"OPENAI_BASE_URL=https://llm.acme.example:8443"},
		"the user's home": {"HOME=/home/somebody", "OPENAI_BASE_URL=https://llm.acme.example:8443"},
	} {
		g := gate(env, "hi")
		if other, ok := accounts[g]; ok {
			t.Errorf("%s and %s share %s", name, other, g)
		}
		accounts[g] = name
		for _, secret := range []string{"sk-", "secret", home, "somebody"} {
			if strings.Contains(g, secret) {
				t.Errorf("%s: %s", name, g)
			}
		}
	}
	if got := New(words("codex exec hi"), []string{at}, "").settings().requestRetries; got != 2 {
		t.Errorf("%d silent retries", got)
	}
}

// How often codex tries by itself can be said for a provider of the config.
func TestPlan_MaxRetries(t *testing.T) {
	home, bare := t.TempDir(), "CODEX_HOME="+t.TempDir()
	config := "model_provider = \"acme\"\n[model_providers.acme]\nbase_url = \"http://127.0.0.1/v1\"\nstream_max_retries = 2\n"
	must.OK(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600))
	set := func(n string) string {
		return "codex exec --json -c model_providers.acme.request_max_retries=0 -c model_providers.acme.stream_max_retries=" + n + " hi"
	}
	for name, tt := range map[string]struct {
		env  string
		turn agent.Turn
		want string
	}{
		"none":           {"CODEX_HOME=" + home, agent.Turn{MaxRetries: new(int)}, set("0")},
		"more than it":   {"CODEX_HOME=" + home, agent.Turn{MaxRetries: ptr(7)}, set("2")},
		"nothing said":   {"CODEX_HOME=" + home, agent.Turn{}, "codex exec --json hi"},
		"left alone":     {"CODEX_HOME=" + home, agent.Turn{MaxRetries: new(int), Plain: true}, "codex exec hi"},
		"OpenAI's own":   {bare, agent.Turn{MaxRetries: new(int)}, "codex exec --json hi"},
		"another's port": {bare + "\x00OPENAI_BASE_URL=http://127.0.0.1/v1", agent.Turn{MaxRetries: new(int)}, "codex exec --json hi"},
	} {
		p := New(words("codex exec hi"), strings.Split(tt.env, "\x00"), "")
		plan, err := p.Plan(tt.turn)
		if got := strings.Join(plan.Args, " "); err != nil || got != tt.want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, tt.want)
		}
		want := p.settings().requestRetries
		if strings.Contains(tt.want, "request_max_retries=0") {
			want = 0
		}
		if got := p.Follow(plan).Reader.(*follower).silentLimit(); got != want {
			t.Errorf("%s: %d silent retries, want %d", name, got, want)
		}
	}
}

func ptr(n int) *int { return &n }
