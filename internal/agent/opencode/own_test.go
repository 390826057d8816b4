package opencode_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent/opencode"
)

// What opencode was told to wait for is not a stall. A repository does not say how long that is.
func TestStalls(t *testing.T) {
	const usual = 900 * time.Second
	provider := func(options string) string {
		return `OPENCODE_CONFIG_CONTENT={"model":"x/y","provider":{"x":{"options":{` + options + `}},"other":{"options":{"headerTimeout":false}}}}`
	}
	for name, tt := range map[string]struct {
		env, project string
		stall, tool  time.Duration
	}{
		"nothing":                {"A=b", "", usual, usual},
		"before an answer":       {provider(`"headerTimeout":3600000`), "", 3630 * time.Second, 3630 * time.Second},
		"in an answer":           {provider(`"chunkTimeout":1200000,"headerTimeout":1000`), "", 1230 * time.Second, 1230 * time.Second},
		"for ever":               {provider(`"chunkTimeout":false`), "", 0, 0},
		"less than usual":        {provider(`"chunkTimeout":60000,"headerTimeout":"x"`), "", usual, usual},
		"for a command":          {"OPENCODE_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS=7200000", "", usual, 7230 * time.Second},
		"a repository asks":      {"A=b", `{"model":"x/y","provider":{"x":{"options":{"headerTimeout":false}}}}`, usual, usual},
		"a repository shortens":  {provider(`"headerTimeout":3600000`), `{"provider":{"x":{"options":{"headerTimeout":1}}}}`, 3630 * time.Second, 3630 * time.Second},
		"what is not a duration": {"OPENCODE_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS=-1", "", usual, usual},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			os.MkdirAll(filepath.Join(dir, ".git"), 0o700)
			if tt.project != "" {
				os.WriteFile(filepath.Join(dir, "opencode.json"), []byte(tt.project), 0o600)
			}
			info := opencode.New([]string{"opencode", "run", "hi"}, []string{"HOME=" + t.TempDir(), tt.env}, dir).Info()
			if info.Stall != tt.stall || info.ToolStall != tt.tool {
				t.Errorf("%v, with a tool %v", info.Stall, info.ToolStall)
			}
		})
	}
}
