//go:build linux

package record_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
)

// A failure is on record with whose service it was, the model, the HTTP status, and how often the call was repeated, by Belay
// or inside the CLI.
func TestFailure_SaysWhoAndWhat(t *testing.T) {
	soon := []string{"--base-delay", "0.2", "--max-delay", "0.2"}
	hi := map[string][]string{"claude": {"-p", "say hi"}, "codex": {"exec", "--skip-git-repo-check", "say hi"}}
	for name, tt := range map[string]struct {
		script   string
		flags    []string
		command  []string
		provider string
		status   int
		class    string
	}{
		"ClaudeOverloaded": {"529x*", append(soon, "--max-retries", "3"), hi["claude"], "anthropic", 529, "overloaded"},
		"ClaudeKey":        {`401(message="invalid x-api-key")x*`, nil, hi["claude"], "anthropic", 401, "auth"},
		"CodexBroken":      {"500x*", append(soon, "--max-retries", "2"), hi["codex"], "rehearsal", 0, "server_error"}, // "high demand"
		"CodexKey":         {`401(message="no")x*`, nil, hi["codex"], "rehearsal", 401, "auth"},
		"CodexRequest":     {`400(message="no")x*`, nil, hi["codex"], "rehearsal", 0, "invalid_request"},
		"GH":               {"502x*", append(soon, "--max-retries", "2"), []string{"api", "user"}, "github", 502, "server_error"},
		"GHNotFound":       {"404x*", nil, []string{"api", "nothing"}, "github", 404, "not_found"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "ClaudeKey" || name == "CodexRequest" {
				stage.InFull(t) // every day another failure of each CLI shows its fields, and TestSeed000 and TestINTEG05_SubprocessErrors the class
			}
			t.Parallel()
			var s *stage.Stage
			var run *stage.Ran
			switch {
			case strings.HasPrefix(name, "Claude"):
				s = stage.Claude.New(t, "", tt.script)
				run = s.Belay(tt.flags, tt.command)
			case strings.HasPrefix(name, "Codex"):
				s = stage.Codex.New(t, "", tt.script)
				run = s.Belay(tt.flags, tt.command)
			default:
				gh := clitest.GH(t)
				s = stage.New(t, tt.script)
				run = s.Run("belay", append(append(append([]string{"run"}, tt.flags...), "--", filepath.Join(filepath.Dir(gh), "gh")), tt.command...)...)
			}
			if run.Code == 0 {
				t.Fatal("it has not failed")
			}
			asked := s.Requests()
			if strings.HasPrefix(name, "GH") {
				asked = len(s.API.Requests())
			}
			var e struct {
				Metadata struct {
					Integration string
					Error       string
					Retries     int    `json:"retry_count"`
					Class       string `json:"error_type"`
					Provider    string
					Model       string
					Status      int `json:"http_status"`
				}
			}
			must.OK(t, json.Unmarshal(ask(s, "events", "--category", "integration", "--json"), &e))
			m := e.Metadata
			if m.Provider != tt.provider || m.Status != tt.status || m.Class != tt.class || m.Error == "" || (m.Model == "") != strings.HasPrefix(name, "GH") {
				t.Errorf("%+v", m)
			}
			// belay stops a codex whose key is rejected, which may have asked again before that, and not said so.
			if stopped := name == "CodexKey" && m.Retries < asked; m.Retries != asked-1 && !stopped {
				t.Errorf("%d retries are on record, the API was asked %d times", m.Retries, asked)
			}
		})
	}
}
