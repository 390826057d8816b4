package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent/agenttest"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/profile"
)

// The profiles that users copy are without a mistake, and judge what their CLIs really print.
func TestExamples_JudgeRealOutcomes(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "examples", "profiles", "*.toml"))
	if err != nil || len(paths) < 2 {
		t.Fatalf("%q, %v", paths, err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".toml")
		t.Run(name, func(t *testing.T) {
			useFile(t, path)
			d, err := config.OwnProfile(name)
			if err != nil || d == nil {
				t.Fatalf("%v, %v", d, err)
			}
			p, err := profile.Bind(name, []string{name}, []string{}, "")
			if err != nil {
				t.Fatal(err)
			}
			agenttest.Outcomes(t, strings.TrimSuffix(path, ".toml")+".jsonl", 15, time.Now(), p)
		})
	}
}

// useFile makes a copy of the file the user's own for the test.
func useFile(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	useText(t, string(text))
}

// useText makes a text the user's own file for the test.
func useText(t *testing.T, text string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("HOME", dir)
	if err := os.Mkdir(filepath.Join(dir, "belay"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "belay", "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { profile.Declare(nil) })
}
