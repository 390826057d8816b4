package claude_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/claude"
)

// What a user tells claude of its retries and waits is known from where claude itself looks for it.
func TestOwnRetries(t *testing.T) {
	const watchdog, most, usage, overload = "CLAUDE_CODE_RETRY_WATCHDOG", "CLAUDE_CODE_RETRY_WATCHDOG_MAX_WAIT_MS", "CLAUDE_CODE_RETRY_WATCHDOG_MAX_USAGE_LIMIT_WAIT_MS", "CLAUDE_CODE_OVERLOADED_RETRY_MAX_WAIT_MS"
	for name, tt := range map[string]struct {
		env      string
		settings string // of the user
		args     []string
		want     agent.OwnRetries
	}{
		"nothing":                           {},
		"turned on":                         {env: watchdog + "=1", want: agent.OwnRetries{Set: true, MaxWait: -1, Setting: watchdog}},
		"in another word":                   {env: watchdog + "= TRUE ", want: agent.OwnRetries{Set: true, MaxWait: -1, Setting: watchdog}},
		"turned off":                        {env: watchdog + "=0"},
		"neither on nor off":                {env: watchdog + "=maybe"},
		"for limits only":                   {env: watchdog + "=1 CLAUDE_CODE_RETRY_WATCHDOG_SCOPE=capacity", want: agent.OwnRetries{Set: true, MaxWait: -1, Setting: watchdog}},
		"bounded":                           {env: watchdog + "=1 " + most + "=600000", want: agent.OwnRetries{Set: true, MaxWait: 10 * time.Minute, Setting: most}},
		"bounded for plans":                 {env: watchdog + "=1 " + usage + "=60000", want: agent.OwnRetries{Set: true, MaxWait: time.Minute, Setting: usage}},
		"bounded twice":                     {env: watchdog + "=1 " + most + "=60000 " + usage + "=90000", want: agent.OwnRetries{Set: true, MaxWait: time.Minute, Setting: most}},
		"bounded by nothing":                {env: watchdog + "=1 " + most + "=5s " + usage + "=-3", want: agent.OwnRetries{Set: true, MaxWait: -1, Setting: watchdog}},
		"bounded, but not on":               {env: most + "=600000"},
		"overloads":                         {env: overload + "=900000", want: agent.OwnRetries{Set: true, MaxWait: 15 * time.Minute, Setting: overload}},
		"overloads, and a number":           {env: overload + "=900000 CLAUDE_CODE_MAX_RETRIES=12", want: agent.OwnRetries{Set: true}},
		"a number":                          {env: "CLAUDE_CODE_MAX_RETRIES=15", want: agent.OwnRetries{Set: true}},
		"no retries":                        {env: "CLAUDE_CODE_MAX_RETRIES=0"},
		"fewer than by itself":              {env: "CLAUDE_CODE_MAX_RETRIES=9"},
		"longer delays":                     {env: "CLAUDE_CODE_OVERLOADED_RETRY_MAX_DELAY_MS=120000", want: agent.OwnRetries{Set: true}},
		"in settings":                       {settings: `{"env": {"` + watchdog + `": "1"}}`, want: agent.OwnRetries{Set: true, MaxWait: -1, Setting: watchdog}},
		"in settings, as a number":          {settings: `{"model": "opus", "env": {"` + watchdog + `": 1, "` + most + `": 600000}}`, want: agent.OwnRetries{Set: true, MaxWait: 10 * time.Minute, Setting: most}},
		"in settings that win":              {env: watchdog + "=1", settings: `{"env": {"` + watchdog + `": "0"}}`},
		"in settings of the command":        {args: []string{"--settings", `{"env": {"` + watchdog + `": "true"}}`}, want: agent.OwnRetries{Set: true, MaxWait: -1, Setting: watchdog}},
		"in settings of another form":       {env: watchdog + "=1", settings: `{"env": ["x"]}`, want: agent.OwnRetries{Set: true, MaxWait: -1, Setting: watchdog}},
		"in settings that are not settings": {env: watchdog + "=1", settings: "\xff{", want: agent.OwnRetries{Set: true, MaxWait: -1, Setting: watchdog}},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			if tt.settings != "" {
				os.WriteFile(filepath.Join(home, "settings.json"), []byte(tt.settings), 0o600)
			}
			env := []string{"CLAUDE_CONFIG_DIR=" + home}
			if name == "in another word" {
				env = append(env, tt.env)
			} else {
				env = append(env, strings.Fields(tt.env)...)
			}
			if got := claude.New(append([]string{"claude", "-p", "hi"}, tt.args...), env).Info().Own; got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

// A file that the command line names is read like the user's own. What stands in the way of one is not waited for.
func TestOwnRetries_SettingsFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "s.json")
	os.WriteFile(file, []byte(`{"env": {"CLAUDE_CODE_RETRY_WATCHDOG": "yes"}}`), 0o600)
	for path, want := range map[string]bool{file: true, dir: false, filepath.Join(dir, "none"): false, "/dev/zero": false} {
		if got := claude.New([]string{"claude", "-p", "--settings", path, "hi"}, []string{"HOME=" + dir}).Info().Own.Set; got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// What claude was told to wait for is not a stall, however long it says nothing meanwhile.
func TestStalls(t *testing.T) {
	const usual, usualTool = 300 * time.Second, 900 * time.Second
	for env, want := range map[string][2]time.Duration{
		"":                                        {usual, usualTool},
		"API_TIMEOUT_MS=10000":                    {usual, usualTool},
		"API_TIMEOUT_MS=600000":                   {630 * time.Second, usualTool},
		"API_TIMEOUT_MS=3000000":                  {3030 * time.Second, 3030 * time.Second},
		"API_TIMEOUT_MS=soon":                     {usual, usualTool},
		"API_TIMEOUT_MS=1e30":                     {1<<63 - 1, 1<<63 - 1},
		"CLAUDE_STREAM_IDLE_TIMEOUT_MS=400000":    {430 * time.Second, usualTool},
		"BASH_MAX_TIMEOUT_MS=7200000":             {usual, 7230 * time.Second},
		"BASH_DEFAULT_TIMEOUT_MS=1000000":         {usual, 1030 * time.Second},
		"MCP_TOOL_TIMEOUT=1800000":                {usual, 1830 * time.Second},
		"CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS=0":  {usual, 0},
		"CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS=-1": {usual, usualTool},
	} {
		info := claude.New([]string{"claude", "-p", "hi"}, []string{"HOME=" + t.TempDir(), env}).Info()
		if info.Stall != want[0] || info.ToolStall != want[1] {
			t.Errorf("%s: %v, with a tool %v", env, info.Stall, info.ToolStall)
		}
	}
}
