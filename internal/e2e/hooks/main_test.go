//go:build linux

package hooks_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
)

func TestMain(m *testing.M) { stage.Main(m) }

// play begins a rehearsal in which an agent calls tools.
func play(t *testing.T, cli stage.CLI, version, script string) *stage.Stage {
	t.Helper()
	s := cli.New(t, version, script)
	if os.Getuid() == 0 {
		s.Env = []string{"IS_SANDBOX=1"} // else claude refuses to skip permissions
	}
	return s
}

// claude lets claude work, with the settings that are in the project.
func claude(s *stage.Stage, prompt string) *stage.Ran {
	s.T.Helper()
	return s.Run("claude", "-p", prompt, "--dangerously-skip-permissions", "--output-format", "stream-json", "--verbose")
}

// codex lets codex work. Hooks that the user has not reviewed do not run, unless a flag says so.
func codex(s *stage.Stage, prompt string) *stage.Ran {
	s.T.Helper()
	return s.Run("codex", "exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", prompt)
}

// codexFile is a file of codex's home.
func codexFile(s *stage.Stage, name string) string {
	return filepath.Join(s.API.Dir(), "home", ".codex", name)
}

// entry is a line of the log.
type entry struct {
	Profile   string
	Kind      string
	Event     string
	Status    string
	ErrorType string `json:"error_type"`
	Error     string
	ExitCode  int    `json:"exit_code"`
	Session   string `json:"session_id"`
	Detail    struct {
		Name    string `json:"hook_name"`
		Action  string `json:"event_action"`
		Session string `json:"session_key"`
		Error   string
	}
}

// failures are those on record.
func failures(s *stage.Stage) []entry {
	s.T.Helper()
	return slices.DeleteFunc(onRecord(s), func(e entry) bool { return e.Kind == "alert" })
}

// onRecord is all that is on record, alerts included.
func onRecord(s *stage.Stage) (entries []entry) {
	s.T.Helper()
	data, err := os.ReadFile(filepath.Join(s.State, "log.jsonl"))
	if os.IsNotExist(err) {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			s.T.Errorf("the log: %v\n%s", err, line)
		}
		entries = append(entries, e)
	}
	return entries
}
