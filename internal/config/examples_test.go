package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent/custom"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/test/must"
)

// What docs/profiles.md shows is a profile, one part after the other.
func TestExamples_OfTheManual(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "profiles.md"))
	must.OK(t, err)
	var parts []string
	for _, block := range strings.Split(string(text), "```toml\n")[1:] {
		part, _, _ := strings.Cut(block, "```")
		parts = append(parts, part)
	}
	useText(t, strings.Join(parts, "\n"))
	if d, err := config.OwnProfile("qwen"); err != nil || len(parts) < 4 || d == nil || len(d.Events) != 3 || len(d.Rules) != 1 || d.Status == "" {
		t.Errorf("%d parts: %+v, %v", len(parts), d, err)
	}
	for _, key := range config.DefinitionKeys() {
		if !strings.Contains(string(text), "`"+key+"`") && !strings.Contains(string(text), "`[["+key+"]]`") {
			t.Errorf("docs/profiles.md does not explain %s", key)
		}
	}
	for _, f := range custom.Fields {
		if !strings.Contains(string(text), "`"+string(f)+"`") {
			t.Errorf("docs/profiles.md does not explain the field %s", f)
		}
	}
	for _, k := range custom.Kinds {
		if !strings.Contains(string(text), "`"+string(k)+"`") {
			t.Errorf("docs/profiles.md does not explain the kind %s", k)
		}
	}
}

// useFile makes a copy of the file the user's own for the test.
func useFile(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	must.OK(t, err)
	useText(t, string(text))
}

// useText makes a text the user's own file for the test.
func useText(t *testing.T, text string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("HOME", dir)
	must.OK(t, os.Mkdir(filepath.Join(dir, "belay"), 0o700))
	must.OK(t, os.WriteFile(filepath.Join(dir, "belay", "config.toml"), []byte(text), 0o600))
	t.Cleanup(func() { profile.Declare(nil) })
}
