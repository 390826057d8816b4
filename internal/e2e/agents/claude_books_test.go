//go:build linux

package agents_test

import (
	"math"
	"strings"
	"testing"
)

// What a run has cost is what the API has charged for; it is not known where claude was killed, or cut off in an answer.
// (A token in costs as much as that; one out five times as much.)
func TestClaude_BooksCost(t *testing.T) {
	for name, tt := range map[string]struct {
		script  string
		flags   string
		per     float64 // so many times the cost of the last answer; 0: not known
		unknown bool
		left    bool // the first session was
	}{
		"GoneOn":    {`tool(bash: "echo x", in=100, out=10), hang, 200(in=200, out=20)`, "", 1.5, false, false},
		"BegunAnew": {`tool(bash: "echo x", in=100, out=10), hang, 200(in=200, out=20)`, "--no-resume-on-retry", 0, false, true},
		"CutOff":    {`tool(bash: "echo x", in=100, out=10), hang-mid(in=50), 200(in=200, out=20)`, "", 0, true, false},
		"Nothing":   {`hang, 200(in=200, out=20)`, "", 1, false, true},
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
				if r.Result.Usage.Unknown != tt.unknown || (cost == nil) != (tt.per == 0) {
					t.Errorf("%s", show(r.Result.Usage))
				} else if cost != nil && math.Abs(*cost-tt.per**once.Result.Usage.Cost) > 1e-7 {
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
