package codex

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
)

// What codex was told of retries and waits is known from its config and from -c. Its retries are left to it where they were raised.
func TestOwnRetries(t *testing.T) {
	const usual = 900 * time.Second
	const acme = "model_provider = \"acme\"\n[model_providers.acme]\nbase_url = \"http://acme.example/v1\"\n"
	for name, tt := range map[string]struct {
		config      string
		args        string
		set         bool
		stall, tool time.Duration
	}{
		"nothing":                      {stall: usual, tool: usual},
		"more retries":                 {config: acme + "stream_max_retries = 50", set: true, stall: usual, tool: usual},
		"more requests":                {config: acme + "request_max_retries = 10", set: true, stall: usual, tool: usual},
		"fewer retries":                {config: acme + "stream_max_retries = 1\nrequest_max_retries = 0", stall: usual, tool: usual},
		"of another provider":          {config: acme + "[model_providers.other]\nstream_max_retries = 50\nstream_idle_timeout_ms = 7200000", stall: usual, tool: usual},
		"on the command line":          {config: acme, args: "-c model_providers.acme.stream_max_retries=20", set: true, stall: usual, tool: usual},
		"a network is waited for":      {config: "[features]\nunbounded_connection_retries = true", set: true, stall: usual, tool: usual},
		"a network is not waited for":  {config: "features = { unbounded_connection_retries = false }", stall: usual, tool: usual},
		"a silent stream":              {config: acme + "stream_idle_timeout_ms = 3600000", stall: 3630 * time.Second, tool: 3630 * time.Second},
		"a slow tool":                  {config: "[mcp_servers.a]\ncommand = \"a\"\ntool_timeout_sec = 60\n[mcp_servers.b]\ntool_timeout_sec = 1800.5", stall: usual, tool: 1830*time.Second + 500*time.Millisecond},
		"a slow tool, and more of it":  {config: "[mcp_servers.a.env]\ntool_timeout_sec = \"x\"\nA = \"7200\"", stall: usual, tool: usual},
		"what is not a number":         {config: acme + "stream_idle_timeout_ms = \"soon\"\nstream_max_retries = -3", stall: usual, tool: usual},
		"the config is not asked":      {config: acme + "stream_max_retries = 50", args: "--ignore-user-config", stall: usual, tool: usual},
		"a stream of a thousand years": {config: acme + "stream_idle_timeout_ms = 9223372036854775807", stall: 1<<63 - 1, tool: 1<<63 - 1},
		"an option that is not known":  {config: acme + "stream_idle_timeout_ms = 3600000", args: "--no-such-option"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			must.OK(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(tt.config), 0o600))
			info := New(append([]string{"codex", "exec"}, append(words(tt.args), "hi")...), []string{"CODEX_HOME=" + home}, "").Info()
			if info.Own.Set != tt.set || info.Own.MaxWait != 0 || info.Stall != tt.stall || info.ToolStall != tt.tool {
				t.Errorf("%+v, %v, with a tool %v", info.Own, info.Stall, info.ToolStall)
			}
		})
	}
}
