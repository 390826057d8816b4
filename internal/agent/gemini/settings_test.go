package gemini

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What gemini was told to wait for is not a stall: a command that prints nothing for as long as the settings allow.
func TestStalls(t *testing.T) {
	const usual = 900 * time.Second
	for settings, want := range map[string]time.Duration{
		"": usual,
		`{"tools": {"shell": {"inactivityTimeout": 3600}}}`:   3630 * time.Second,
		`{"tools": {"shell": {"inactivityTimeout": 60}}}`:     usual,
		`{"tools": {"shell": {"inactivityTimeout": "soon"}}}`: usual,
		`{"tools": "none"}`: usual,
		"\xff":              usual,
	} {
		home := t.TempDir()
		os.MkdirAll(filepath.Join(home, ".gemini"), 0o700)
		if settings != "" {
			os.WriteFile(filepath.Join(home, ".gemini", "settings.json"), []byte(settings), 0o600)
		}
		info := New([]string{"gemini", "-p", "hi"}, []string{"HOME=" + home}, home).Info()
		if info.Stall != usual || info.ToolStall != want {
			t.Errorf("%q: %v, with a tool %v", settings, info.Stall, info.ToolStall)
		}
	}
}
