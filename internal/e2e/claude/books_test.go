//go:build linux

package claude_test

import (
	"math"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/journal"
)

// The log tells when the model first answered, what claude retried by itself and which tools it used, and nothing of what
// they were given.
func TestBooks_Details(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, `429(retry-after=1), tool(bash: "echo sesame"), tool(Read: {"file_path": "/sesame"}), tool(bash: "echo sesame; exit 3"), 200`)
		s.Env = []string{"TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
		r := s.Belay(nil, []string{"-p", "say hi", "--allowedTools", "Bash,Read"})
		r.Exits(0)
		e := s.Log()[0]
		if len(e.Tools) != 2 || e.Tools[0].Name != "Bash" || e.Tools[0].Count != 2 || e.Tools[1].Name != "Read" || e.Tools[1].Count != 1 {
			t.Errorf("%+v", e.Tools)
		}
		if len(e.ToolCalls) != 3 || e.ToolsCut != 0 || e.ToolCalls[1].Name != "Read" || e.ToolCalls[0].Start < e.FirstToken-1 || e.ToolCalls[2].Start < e.ToolCalls[0].Start {
			t.Errorf("%+v", e.ToolCalls)
		}
		if e.FirstToken <= 1 || e.FirstToken > e.ResponseTime+1 || e.Traceparent != s.Env[0][len("TRACEPARENT="):] || *e.BelayCode != 0 {
			t.Errorf("%+v", e)
		}
		if e.InnerRetries != 1 && !stage.UpTo(version, "2.0.77") { // older ones say nothing where it helped
			t.Errorf("%d retries inside", e.InnerRetries)
		}
		for _, line := range []any{e.Tools, e.ToolCalls, e.Error} {
			if strings.Contains(show(line), "sesame") {
				t.Errorf("%s", show(line))
			}
		}
	})
}

// What a run has cost is what the API has charged for; it is not known where claude was killed, or cut off in an answer.
// (A token in costs as much as that; one out five times as much.)
func TestBooks_Cost(t *testing.T) {
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
			each(t, false, func(t *testing.T, version string) {
				s := newStage(t, version, "200(in=200, out=20)")
				once := s.Belay(nil, []string{"-p", "say hi"})
				once.Exits(0)
				s.Rehearse(tt.script)
				r := s.Belay(append([]string{"--stall-timeout", "20s", "--base-delay", "100ms"}, strings.Fields(tt.flags)...), []string{"-p", "say hi", "--allowedTools", "Bash"})
				r.Exits(0)
				r.Is("", 2)
				cost := r.Result.Usage.Cost
				if r.Result.Usage.Unknown != tt.unknown || (cost == nil) != (tt.per == 0) {
					t.Errorf("%s", show(r.Result.Usage))
				} else if cost != nil && math.Abs(*cost-tt.per**once.Result.Usage.Cost) > 1e-7 {
					t.Errorf("$%v, want %v times $%v", *cost, tt.per, *once.Result.Usage.Cost)
				}
				s.OnRecord(r.Result.SessionID, "done")
				if first := firstSession(s.Log()[1:]); (first != r.Result.SessionID) != tt.left {
					t.Errorf("first %s, then %s", first, r.Result.SessionID)
				} else if tt.left {
					s.OnRecord(first, "abandoned")
				}
			}, "2.1.250") // those before do not tell the cost of a session, and say other things when they are interrupted
		})
	}
}

func firstSession(list []journal.Entry) string { return list[0].Session }

// A run that fails says so once more in its errors, and ends with belay's own code; claude's is beside it.
func TestBooks_Refused(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `401(message="invalid x-api-key")x*`)
		r := s.Belay(nil, []string{"-p", "say hi"})
		r.Exits(78)
		if len(r.Result.Errors) != 1 || r.Result.Errors[0] != r.Result.Error || r.Result.Child == nil || *r.Result.Child != 1 {
			t.Errorf("%+v", r.Result)
		}
		if e := s.Log()[0]; e.ExitCode != 1 || *e.BelayCode != 78 {
			t.Errorf("%+v", e)
		}
	})
}

// Four who go on with one session at the same time wait for each other, and each pays its own.
func TestBooks_ConcurrentResumers(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200(in=200, out=20)x*")
		first := s.Belay(nil, []string{"-p", "say hi"})
		first.Exits(0)
		var all []*stage.Running
		for range 4 {
			all = append(all, s.StartBelay([]string{"--resume", first.Result.SessionID}, []string{"-p", "say more"}, nil))
		}
		for _, one := range all {
			r := one.Wait()
			r.Exits(0)
			if cost := r.Result.Usage.Cost; cost == nil || math.Abs(*cost-*first.Result.Usage.Cost) > 1e-7 {
				t.Errorf("%s after %s", show(cost), show(first.Result.Usage.Cost))
			}
		}
	})
}
