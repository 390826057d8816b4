package agent_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/claude"
	"github.com/belay-run/belay/internal/agent/codex"
	"github.com/belay-run/belay/internal/agent/gh"
)

// keyOf is the key of the gate that a command line falls under.
func keyOf(cli, env, args string) string {
	environ := append([]string{"HOME=/home/user"}, strings.Fields(env)...)
	line := append([]string{cli}, strings.Fields(args)...)
	switch cli {
	case claude.Name:
		return claude.New(append(line, "-p", "hi"), environ).Info().Gate
	case codex.Name:
		return codex.New(append([]string{cli, "exec", "hi"}, line[1:]...), environ, "/").Info().Gate
	default:
		return gh.New(line, environ, "/").CallerInfo().Gate
	}
}

// The gates of users are on their disks under these keys: they are what the profiles made before they shared one parser of
// hosts and one form of the key (4a7f063).
func TestGateKey_StaysTheSame(t *testing.T) {
	for _, tt := range []struct{ cli, env, args, want string }{
		{"claude", "", "", "claude:api.anthropic.com:d1c0b541"},
		{"claude", "ANTHROPIC_API_KEY=sk-ant-one", "", "claude:api.anthropic.com:ab3f1693"},
		{"claude", "ANTHROPIC_AUTH_TOKEN=t ANTHROPIC_API_KEY=sk-ant-one", "", "claude:api.anthropic.com:e3b98a4d"},
		{"claude", "CLAUDE_CODE_OAUTH_TOKEN=oauth", "", "claude:api.anthropic.com:6e306c51"},
		{"claude", "ANTHROPIC_API_KEY=old ANTHROPIC_API_KEY=sk-ant-one", "", "claude:api.anthropic.com:ab3f1693"},
		{"claude", "CLAUDE_CONFIG_DIR=/srv/claude", "", "claude:api.anthropic.com:bc29611f"},
		{"claude", "CLAUDE_CODE_USE_BEDROCK=1", "", "claude:bedrock:d1c0b541"},
		{"claude", "CLAUDE_CODE_USE_VERTEX=1 ANTHROPIC_BASE_URL=https://proxy.example", "", "claude:vertex:d1c0b541"},
		{"claude", "CLAUDE_CODE_USE_BEDROCK=0", "", "claude:api.anthropic.com:d1c0b541"},
		{"claude", "ANTHROPIC_BASE_URL=", "", "claude:api.anthropic.com:d1c0b541"},
		{"claude", "ANTHROPIC_BASE_URL=https://api.anthropic.com", "", "claude:api.anthropic.com:d1c0b541"},
		{"claude", "ANTHROPIC_BASE_URL=https://api.anthropic.com/", "", "claude:api.anthropic.com:d1c0b541"},
		{"claude", "ANTHROPIC_BASE_URL=https://llm.acme.example/anthropic/v1", "", "claude:llm.acme.example:d1c0b541"},
		{"claude", "ANTHROPIC_BASE_URL=http://127.0.0.1:8080", "", "claude:127.0.0.1:8080:d1c0b541"},
		{"claude", "ANTHROPIC_BASE_URL=http://localhost:4000/v1", "", "claude:localhost:4000:d1c0b541"},
		{"claude", "ANTHROPIC_BASE_URL=http://[::1]:8080/v1", "", "claude:[::1]:8080:d1c0b541"},
		{"claude", "ANTHROPIC_BASE_URL=https://user:secret@llm.acme.example/v1", "", "claude:llm.acme.example:d1c0b541"},
		{"claude", "ANTHROPIC_BASE_URL=https://user:p@ss@llm.acme.example:8443", "", "claude:llm.acme.example:8443:d1c0b541"},
		{"claude", "ANTHROPIC_BASE_URL=https://my_proxy-1.example:8443", "", "claude:my_proxy-1.example:8443:d1c0b541"},
		{"claude", "ANTHROPIC_BASE_URL=http://llm.acme.example:443/v1", "", "claude:llm.acme.example:443:d1c0b541"},
		{"codex", "", "", "codex:api.openai.com:59448a44"},
		{"codex", "CODEX_API_KEY=sk-one", "", "codex:api.openai.com:456f1612"},
		{"codex", "CODEX_HOME=/srv/codex", "", "codex:api.openai.com:0d03e7c9"},
		{"codex", "OPENAI_BASE_URL=https://api.openai.com/v1", "", "codex:api.openai.com:59448a44"},
		{"codex", "OPENAI_BASE_URL=http://127.0.0.1:8080/v1", "", "codex:127.0.0.1:8080:59448a44"},
		{"codex", "OPENAI_BASE_URL=http://[::1]:8080/v1", "", "codex:[::1]:8080:59448a44"},
		{"codex", "OPENAI_BASE_URL=https://user:secret@LLM.acme.example:8443/v1?x=y", "", "codex:llm.acme.example:8443:59448a44"},
		{"codex", "OPENAI_BASE_URL=https://llm.acme.example", "", "codex:llm.acme.example:59448a44"},
		{"codex", "OPENAI_BASE_URL=https://llm.acme.example?x", "", "codex:llm.acme.example:59448a44"},
		{"codex", "OPENAI_BASE_URL=https://llm.acme.example#x", "", "codex:llm.acme.example:59448a44"},
		{"codex", "OPENAI_BASE_URL=llm.acme.example/v1", "", "codex:llm.acme.example:59448a44"},
		{"codex", "ACME=sk-three", `-c model_provider=acme -c model_providers.acme.base_url="https://my_proxy-1.example/v1" -c model_providers.acme.env_key="ACME"`, "codex:my_proxy-1.example:46a984dc"},
		{"codex", "", "-c model_provider=azure", "codex:provider-azure:59448a44"},
		{"codex", "", "-c model_provider=Azure-2", "codex:provider-azure-2:59448a44"},
		{"codex", "", "--oss", "codex:provider-oss:59448a44"},
		{"codex", "OPENAI_BASE_URL=http://llm.acme.example:443/v1", "", "codex:llm.acme.example:443:59448a44"},
		{"codex", "OPENAI_BASE_URL=https://llm.acme.example/v1?to=http://other.example", "", "codex:llm.acme.example:59448a44"},
		{"codex", "OPENAI_BASE_URL=https:///v1", "", "codex:api.openai.com:59448a44"},
		{"gh", "", "issue list", "gh:github.com:813b9b59"},
		{"gh", "GH_TOKEN=ghp_one", "issue list", "gh:github.com:3f3b3f04"},
		{"gh", "GITHUB_TOKEN=ghp_two", "issue list", "gh:github.com:c33342ea"},
		{"gh", "GH_TOKEN=ghp_one GH_ENTERPRISE_TOKEN=ghe", "issue list -R ghe.example/o/r", "gh:ghe.example:45f489b0"},
		{"gh", "GH_CONFIG_DIR=/srv/gh", "issue list", "gh:github.com:0aad7a78"},
		{"gh", "XDG_CONFIG_HOME=/srv/config", "issue list", "gh:github.com:01167834"},
		{"gh", "GH_HOST=ghe.example", "issue list", "gh:ghe.example:813b9b59"},
		{"gh", "GH_HOST=GHE.example", "issue list", "gh:ghe.example:813b9b59"},
		{"gh", "GH_HOST=acme.ghe.com GH_TOKEN=ghp_one", "issue list", "gh:acme.ghe.com:3f3b3f04"},
		{"gh", "GH_HOST=ghe.example:8443", "issue list", "gh:ghe.example:8443:813b9b59"},
		{"gh", "GH_REPO=ghe.example/o/r", "issue list", "gh:ghe.example:813b9b59"},
		{"gh", "GH_REPO=o/r", "issue list", "gh:github.com:813b9b59"},
		{"gh", "", "issue list -R o/r", "gh:github.com:813b9b59"},
		{"gh", "", "issue list --repo=https://ghe.example/o/r", "gh:ghe.example:813b9b59"},
		{"gh", "", "issue list -R http://GHE.example/o/r.git", "gh:ghe.example:813b9b59"},
		{"gh", "", "issue view https://ghe.example/o/r/issues/1", "gh:ghe.example:813b9b59"},
		{"gh", "", "api --hostname ghe.example rate_limit", "gh:ghe.example:813b9b59"},
		{"gh", "", "api --hostname GHE.example rate_limit", "gh:ghe.example:813b9b59"},
		{"gh", "", "api https://api.github.com/user", "gh:github.com:813b9b59"},
		{"gh", "", "api --hostname ghe.example:443 rate_limit", "gh:ghe.example:443:813b9b59"},
	} {
		if got := keyOf(tt.cli, tt.env, tt.args); got != tt.want {
			t.Errorf("%s %s %s: %s, want %s", tt.env, tt.cli, tt.args, got, tt.want)
		}
	}
}

// These keys have changed since 4a7f063: two spellings of one host had a gate each, and gh's key could hold a password.
func TestGateKey_OddAddresses(t *testing.T) {
	for _, tt := range []struct{ cli, env, args, before, want string }{
		{"claude", "ANTHROPIC_BASE_URL=https://LLM.Acme.example/v1", "", "claude:LLM.Acme.example:d1c0b541", "claude:llm.acme.example:d1c0b541"},
		{"claude", "ANTHROPIC_BASE_URL=https://llm.acme.example?team=a", "", "claude:llm.acme.example?team=a:d1c0b541", "claude:llm.acme.example:d1c0b541"},
		{"claude", "ANTHROPIC_BASE_URL=https://llm.acme.example#a", "", "claude:llm.acme.example#a:d1c0b541", "claude:llm.acme.example:d1c0b541"},
		{"claude", "ANTHROPIC_BASE_URL=https://llm.acme.example:443/v1", "", "claude:llm.acme.example:443:d1c0b541", "claude:llm.acme.example:d1c0b541"},
		{"claude", "ANTHROPIC_BASE_URL=http://llm.acme.example:80/v1", "", "claude:llm.acme.example:80:d1c0b541", "claude:llm.acme.example:d1c0b541"},
		{"claude", "ANTHROPIC_BASE_URL=llm.acme.example/v1", "", "claude:api.anthropic.com:d1c0b541", "claude:llm.acme.example:d1c0b541"},
		{"claude", "ANTHROPIC_BASE_URL=https://b%C3%BCcher.example", "", "claude:b%C3%BCcher.example:d1c0b541", "claude:bc3bccher.example:d1c0b541"},
		{"claude", "ANTHROPIC_BASE_URL=https:///v1", "", "claude::d1c0b541", "claude:api.anthropic.com:d1c0b541"},
		{"codex", "OPENAI_BASE_URL=https://llm.acme.example:443/v1", "", "codex:llm.acme.example:443:59448a44", "codex:llm.acme.example:59448a44"},
		{"codex", "OPENAI_BASE_URL=http://llm.acme.example:80/v1", "", "codex:llm.acme.example:80:59448a44", "codex:llm.acme.example:59448a44"},
		{"codex", "OPENAI_BASE_URL=llm.acme.example/v1?to=http://other.example", "", "codex:other.example:59448a44", "codex:llm.acme.example:59448a44"},
		{"gh", "", "issue view https://ghe.example:443/o/r/issues/1", "gh:ghe.example:443:813b9b59", "gh:ghe.example:813b9b59"},
		{"gh", "", "issue view https://ghe.example?x", "gh:ghe.examplex:813b9b59", "gh:ghe.example:813b9b59"},
		{"gh", "", "issue view https://ghe.example#x", "gh:ghe.examplex:813b9b59", "gh:ghe.example:813b9b59"},
		{"gh", "", "issue list -R https://user:secret@ghe.example/o/r", "gh:user:secretghe.example:813b9b59", "gh:ghe.example:813b9b59"},
		{"gh", "", "api --hostname https://ghe.example rate_limit", "gh:https:ghe.example:813b9b59", "gh:ghe.example:813b9b59"},
		{"gh", "GH_HOST=https://ghe.example/", "issue list", "gh:https:ghe.example:813b9b59", "gh:ghe.example:813b9b59"},
	} {
		if got := keyOf(tt.cli, tt.env, tt.args); got != tt.want {
			t.Errorf("%s %s %s: %s, want %s (before: %s)", tt.env, tt.cli, tt.args, got, tt.want, tt.before)
		}
	}
}

func TestHost(t *testing.T) {
	for address, want := range map[string]string{
		"":                                   "",
		"https://":                           "",
		"host.example":                       "host.example",
		"https://host.example":               "host.example",
		"HTTPS://HOST.Example/Path":          "host.example",
		"https://host.example:443":           "host.example",
		"HTTPS://host.example:443":           "host.example",
		"http://host.example:80/":            "host.example",
		"https://host.example:80":            "host.example:80",
		"http://host.example:443":            "host.example:443",
		"host.example:443":                   "host.example:443", // no scheme, so no usual port
		"wss://host.example:8443/x":          "host.example:8443",
		"https://[2001:DB8::443]/":           "[2001:db8::443]",
		"https://[::1]:443/":                 "[::1]",
		"https://user@host.example":          "host.example",
		"https://user:pass@host.example:1/x": "host.example:1",
		"https://user:p@ss@host.example":     "host.example",
		"user:pass@host.example/x@y":         "host.example",
		"https://host.example/a@b":           "host.example",
		"https://host.example?to=a@b":        "host.example",
		"https://host.example#a@b":           "host.example",
		"host.example/?to=https://other":     "host.example",
		" https://host.example\n":            "host.example",
	} {
		if got := agent.Host(address); got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
}

// Host agrees with net/url about every address that is one, and holds nothing that cannot be part of a key.
func FuzzHost(f *testing.F) {
	for _, address := range []string{"https://host.example:443/v1?a#b", "http://user:p@ss@[::1]:80", "host", "://", "a://b@c:d", "https://HOST"} {
		f.Add(address)
	}
	f.Fuzz(func(t *testing.T, address string) {
		host := agent.Host(address)
		if host != agent.KeyPart(host) {
			t.Errorf("%q: %q", address, host)
		}
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.Contains(address, "%") {
			return
		}
		want := strings.TrimSuffix(strings.ToLower(u.Host), map[string]string{"https": ":443", "http": ":80"}[u.Scheme])
		if strings.ToLower(u.Host) == agent.KeyPart(u.Host) && host != want {
			t.Errorf("%q: %q, want %q", address, host, want)
		}
	})
}
