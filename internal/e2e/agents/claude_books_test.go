//go:build linux

package agents_test

import (
	"math"
	"strings"
	"testing"
)

// What a run has cost is what the API has charged for. Where claude was killed it is estimated, and where it was cut off in an
// answer it is at least what is known of it. (A token in costs as much as that; one out five times as much.)
func TestClaude_BooksCost(t *testing.T) {
	for name, tt := range map[string]struct {
		script    string
		flags     string
		per       float64 // so many times the cost of the last answer
		estimated bool
		unknown   bool
		left      bool // the first session was
	}{
		"GoneOn":    {`tool(bash: "echo x", in=100, out=10), hang, 200(in=200, out=20)`, "", 1.5, true, false, false},
		"BegunAnew": {`tool(bash: "echo x", in=100, out=10), hang, 200(in=200, out=20)`, "--no-resume-on-retry", 1.5, true, false, true},
		"CutOff":    {`tool(bash: "echo x", in=100, out=10), hang-mid(in=50), 200(in=200, out=20)`, "", 1.5 + 60.0/300, true, true, false}, // 50 in, and two out by what was shown
		"Nothing":   {`hang, 200(in=200, out=20)`, "", 1, false, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			claude.Each(t, false, func(t *testing.T, version string) {
				s := claude.New(t, version, "200(in=200, out=20)")
				once := s.Belay(nil, []string{"-p", "say hi"})
				once.Exits(0)
				s.Rehearse(tt.script)
				r := s.Belay(append([]string{"--stall-timeout", "30s", "--base-delay", "100ms"}, strings.Fields(tt.flags)...), []string{"-p", "say hi", "--allowedTools", "Bash"})
				r.Exits(0)
				r.Is("", 2)
				cost := r.Result.Usage.Cost
				if used := r.Result.Usage; used.Unknown != tt.unknown || used.Estimated != tt.estimated || cost == nil {
					t.Errorf("%s", show(used))
				} else if math.Abs(*cost-tt.per**once.Result.Usage.Cost) > 1e-7 {
					t.Errorf("$%v, want %v times $%v", *cost, tt.per, *once.Result.Usage.Cost)
				}
				s.OnRecord(r.Result.SessionID, "done")
				if first := s.Log()[1].Session; (first != r.Result.SessionID) != tt.left {
					t.Errorf("first %s, then %s", first, r.Result.SessionID)
				} else if tt.left {
					s.OnRecord(first, "abandoned")
				}
			}, "2.1.250") // those before do not tell the cost of a session, and say other things when they are interrupted
		})
	}
}
