//go:build linux

package agents_test

import (
	"slices"
	"testing"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/e2e/stage"
)

// One of each kind, in few starts: a CLI that takes seconds of CPU to start takes part in this every day, and in the tests of each
// kind in full. What is stopped while tools run, and what goes on after a cut, are in TestStop_WhileAToolRuns and TestOUT04_Usage.
func TestKinds(t *testing.T) {
	t.Parallel()
	for i, kind := range []struct {
		name     string
		args     func(a *agent) []string // the form of the output
		prompt   int                     // its size
		script   string
		flags    []string
		code     int
		class    string
		requests int
	}{
		{"Throttled", asJSON, 100_000, "429(retry-after=1), 200(in=100, out=7)", nil, 0, "", 2},
		{"BadKey", (*agent).asEvents, 0, "401x*", nil, 78, "auth", 1},
		{"Silent", asText, 0, "hang x*", []string{"--total-timeout", "40s"}, 124, "timeout", 1},
		{"Refused", asText, 0, "refuse", []string{"--max-retries", "0"}, 1, "network", 0},
	} {
		t.Run(kind.name, func(t *testing.T) {
			each(t, true, func(t *testing.T, a *agent, version string) {
				if a.everyDay == nil && !full {
					t.Skip("it has a test of each kind every day")
				}
				if !clitest.OneOf(2, i+slices.Index(agents, a)) {
					t.Skip("every day the next agent has this kind")
				}
				s := a.New(t, version, kind.script)
				prompt := "say hi"
				if kind.prompt > 0 {
					prompt = a.text(kind.prompt)
				}
				r := s.Belay(kind.flags, a.ask(append(kind.args(a), prompt)...))
				r.Exits(kind.code)
				if r.Result.ErrorType != kind.class {
					t.Errorf("%+v", r.Result)
				}
				if n := s.Requests(); n != kind.requests {
					t.Errorf("%d requests, want %d", n, kind.requests)
				}
				if kind.code == 0 {
					r.Used(100, 7)
					if texts := s.LastTold(); stage.Count(texts, prompt) != 1 || r.Result.Result+"\n" != answer {
						t.Errorf("asked with %d messages, answered %q", len(texts), r.Result.Result)
					}
				}
				s.NobodyLeft()
			}, after{claude, "2.0.77"}, after{codex, "0.150.1"}, after{gemini, geminiOld})
		})
	}
}

func asText(*agent) []string        { return nil }
func asJSON(a *agent) []string      { return a.forms["json"] }
func (a *agent) asEvents() []string { return a.forms[a.stream] }
