package profile_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/test/must"
)

// Each CLI keeps its login in a file of its own, unless its environment has another credential. The file says when the login expires.
func TestLogins(t *testing.T) {
	const when = 1_800_000_000
	jwt := "e30." + base64.RawURLEncoding.EncodeToString([]byte(`{"exp":1800000000}`)) + ".c2ln"
	claudes, geminis := `{"claudeAiOauth":{"accessToken":"t","expiresAt":1800000000000}}`, `{"access_token":"t","expiry_date":1800000000000}`
	home := filepath.FromSlash("/h")
	for _, tt := range []struct {
		args    []string
		env     []string
		file    string // below the home; empty if there is none
		content string
	}{
		{[]string{"claude", "-p"}, nil, ".claude/.credentials.json", claudes},
		{[]string{"claude", "-p"}, []string{"CLAUDE_CONFIG_DIR=" + home + "/c"}, "c/.credentials.json", claudes},
		{[]string{"claude", "-p"}, []string{"CLAUDE_CONFIG_DIR=" + home + "/c", "CLAUDE_SECURESTORAGE_CONFIG_DIR=" + home + "/s"}, "s/.credentials.json", claudes},
		{[]string{"claude", "-p"}, []string{"ANTHROPIC_API_KEY=k"}, "", ""},
		{[]string{"claude", "-p"}, []string{"CLAUDE_CODE_OAUTH_TOKEN=k"}, "", ""},
		{[]string{"claude", "-p"}, []string{"CLAUDE_CODE_USE_BEDROCK=1"}, "", ""},
		{[]string{"codex", "exec"}, nil, ".codex/auth.json", `{"tokens":{"access_token":"` + jwt + `"}}`},
		{[]string{"codex", "exec"}, []string{"CODEX_HOME=" + home + "/c"}, "c/auth.json", `{"tokens":{"access_token":"` + jwt + `"}}`},
		{[]string{"codex", "exec"}, []string{"CODEX_API_KEY=k"}, "", ""},
		{[]string{"codex", "exec", "-c", "model_provider=x", "-c", "model_providers.x.env_key=K"}, nil, "", ""},
		{[]string{"gemini", "-p", "hi"}, nil, ".gemini/oauth_creds.json", geminis},
		{[]string{"gemini", "-p", "hi"}, []string{"GEMINI_CLI_HOME=" + home + "/g"}, "g/.gemini/oauth_creds.json", geminis},
		{[]string{"gemini", "-p", "hi"}, []string{"GEMINI_API_KEY=k"}, "", ""},
		{[]string{"opencode", "run", "-m", "x/y"}, nil, ".local/share/opencode/auth.json", `{"x":{"type":"oauth","expires":1800000000000}}`},
		{[]string{"opencode", "run", "-m", "x/y"}, []string{"X_API_KEY=k"}, "", ""},
	} {
		info := profile.Find(tt.args[0]).New(tt.args, append([]string{"HOME=" + home, "USERPROFILE=" + home}, tt.env...), home).(agent.Agent).Info()
		want := ""
		if tt.file != "" {
			want = filepath.Join(home, filepath.FromSlash(tt.file))
		}
		if filepath.Clean(info.Login.Path) != filepath.Clean(want) {
			t.Errorf("%v with %v: %q, want %q", tt.args, tt.env, info.Login.Path, want)
		}
		if want == "" {
			continue
		}
		info.Login.Path = filepath.Join(t.TempDir(), "login")
		expires := func(content string) time.Time {
			must.OK(t, os.WriteFile(info.Login.Path, []byte(content), 0o600))
			return info.Login.Look().Expires
		}
		if got := expires(tt.content); !got.Equal(time.Unix(when, 0)) {
			t.Errorf("%v: expires %v", tt.args, got)
		}
		for _, torn := range []string{"", "{", "[]", `{"tokens":{"access_token":"a.b"}}`, `{"tokens":{"access_token":"a.eyJleHAiOjFlMzAwfQ.b"}}`} {
			if got := expires(torn); !got.IsZero() {
				t.Errorf("%v: %q expires %v", tt.args, torn, got)
			}
		}
	}
}
