//go:build live

// Package live runs scenarios of seed 000 with the real claude, the real API and your own key. It costs a few cents:
//
//	go test -tags live ./internal/e2e/live
package live

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/verdict"
)

// ask asks claude one thing, with a log of its own.
func ask(t *testing.T, c *belay.Agent) (*belay.Result, error, string) {
	t.Helper()
	if _, err := exec.LookPath("claude"); err != nil {
		t.Skip("SKIPPED: there is no claude on the PATH")
	}
	dir := t.TempDir()
	c.Runner.State, c.Runner.LogDir = &belay.State{Dir: filepath.Join(dir, "state")}, filepath.Join(dir, "logs")
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	res, err := c.Run(ctx)
	return res, err, filepath.Join(c.Runner.LogDir, "claude_invocations.jsonl")
}

func TestSuccessIsLogged(t *testing.T) {
	res, err, log := ask(t, belay.Claude("Answer with the one word pong.", "--model", "haiku"))
	if err != nil || !strings.Contains(strings.ToLower(res.Output.String()), "pong") {
		t.Fatalf("%q, %v", res.Output, err)
	}
	if res.Session == "" || res.Usage.OutputTokens == 0 {
		t.Errorf("session %q, usage %+v", res.Session, res.Usage)
	}
	data, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(data), `"prompt_hash":"`) || strings.Contains(string(data), "pong") {
		t.Errorf("log: %s, %v", data, err)
	}
	if info, err := os.Stat(log); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestLongPrompt(t *testing.T) {
	res, err, _ := ask(t, belay.Claude("Answer with the one word pong. The rest does not matter.\n"+strings.Repeat("lorem ipsum ", 20_000), "--model", "haiku"))
	if err != nil {
		t.Fatalf("%v: %s", err, res.Verdict.Evidence)
	}
}

func TestUnknownModelIsNotRepeated(t *testing.T) {
	res, err, _ := ask(t, belay.Claude("Hello.", "--model", "no-such-model"))
	var failed *belay.Error
	if !errors.As(err, &failed) || failed.Verdict.Class != verdict.NotFound || res.Attempts != 1 {
		t.Errorf("%v, %d attempts", err, res.Attempts)
	}
}

func TestBadKeyEndsAtOnce(t *testing.T) {
	env := append(os.Environ(), "ANTHROPIC_API_KEY=sk-ant-api03-not-a-key", "CLAUDE_CONFIG_DIR="+t.TempDir())
	res, err, _ := ask(t, &belay.Agent{Name: "claude", Prompt: "Hello.", Env: env})
	if err == nil || res.Verdict.Class != verdict.Auth || res.ExitCode != 78 {
		t.Errorf("%s, exit code %d, %v", res.Verdict.Class, res.ExitCode, err)
	}
}
