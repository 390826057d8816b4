//go:build linux

package agents_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// In a job of GitHub Actions the real agents fill every output, and each fault has an annotation.
func TestGitHub(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) {
		for _, fault := range []struct{ script, level, errorType string }{
			{"429(retry-after=1), 200(in=30000, out=500)", "warning", ""},
			{"401x*", "error", "auth"},
		} {
			s := a.New(t, version, fault.script)
			output, summary := s.File("output", ""), s.File("summary", "")
			s.Env = append(s.Env, "GITHUB_ACTIONS=true", "GITHUB_OUTPUT="+output, "GITHUB_STEP_SUMMARY="+summary)
			args, _ := model(t, a)
			r := s.Belay([]string{"--github"}, a.ask(append(args, "say hi")...))
			if !strings.Contains(r.Stderr, "::"+fault.level+" title=belay%3A "+a.Name+" ") {
				t.Errorf("%s: no %s in %s", fault.script, fault.level, r.Stderr)
			}
			text, err := os.ReadFile(output)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			lines := strings.Split(string(text), "\n")
			for i := 0; i+2 < len(lines); i += 3 {
				name, _, _ := strings.Cut(lines[i], "<<")
				got[name] = lines[i+1]
			}
			if got["error_type"] != fault.errorType || got["attempts"] != strconv.Itoa(r.Result.Attempts) {
				t.Errorf("%s: %v", fault.script, got)
			}
			if fault.errorType == "" {
				if got["input_tokens"] != "30000" || got["output_tokens"] != "500" || got["session_id"] != r.Result.SessionID || got["total_cost_usd"] == "" {
					t.Errorf("%s: %v", fault.script, got)
				}
			}
			if text, err := os.ReadFile(summary); err != nil || !strings.HasPrefix(string(text), "### belay: "+a.Name+"\n\n| result |") {
				t.Errorf("%v\n%s", err, text)
			}
		}
	})
}
