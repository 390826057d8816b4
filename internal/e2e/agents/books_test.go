//go:build linux

package agents_test

import (
	"encoding/json"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/rehearse"
)

func show(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

// The log tells when the model first answered, what the CLI retried by itself and which tools it used, and nothing of what
// they were given. What the CLI tells of the limits of its account is known afterwards.
func TestBooks_Details(t *testing.T) {
	each(t, true, func(t *testing.T, a *agent, version string) {
		s := a.New(t, version, a.inner+", "+a.toolSteps+", "+someUsed)
		s.Env = []string{"TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
		r := s.Belay(nil, a.work("say hi"))
		r.Exits(0)
		r.Used(charged(s))
		e := s.Log()[0]
		used, calls := map[string]int{}, map[string]int{}
		for _, tool := range e.Tools {
			used[tool.Name] = tool.Count
		}
		for i, call := range e.ToolCalls {
			calls[call.Name]++
			if call.Start < e.FirstToken-1 || i > 0 && call.Start < e.ToolCalls[i-1].Start {
				t.Errorf("call %d began after %v, and the first token came after %v", i+1, call.Start, e.FirstToken)
			}
		}
		if !maps.Equal(used, a.tools) || !maps.Equal(calls, a.tools) || e.ToolsCut != 0 {
			t.Errorf("tools %v, calls %v, want %v", used, calls, a.tools)
		}
		if e.FirstToken <= 0 || e.FirstToken > e.ResponseTime+1 || e.Traceparent != s.Env[0][len("TRACEPARENT="):] || *e.BelayCode != 0 {
			t.Errorf("%+v", e)
		}
		if e.InnerRetries != 1 && (a != claude || !stage.UpTo(version, "2.0.77")) { // which says nothing where it helped
			t.Errorf("%d retries inside", e.InnerRetries)
		}
		if known := quotaKnown(s); known != usedSaid && version == a.Versions[0] && (a == claude || a == codex) || known != "" && a != claude && a != codex {
			t.Errorf("known of its limits: %s", known)
		}
		if text := show([]any{e.Tools, e.ToolCalls, e.Error}); strings.Contains(text, "sesame") {
			t.Errorf("the log tells what a tool was given: %s", text)
		}
	})
}

// A run that fails says so once more in its errors, and ends with belay's own code; the CLI's is beside it.
func TestBooks_Refused(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) {
		s := a.New(t, version, `401(message="invalid x-api-key")x*`)
		r := s.Belay(nil, a.ask("say hi"))
		r.Exits(78)
		if len(r.Result.Errors) != 1 || r.Result.Errors[0] != r.Result.Error || r.Result.Child == nil || *r.Result.Child != 1 {
			t.Errorf("%+v", r.Result)
		}
		if e := s.Log()[0]; e.ExitCode != 1 || *e.BelayCode != 78 {
			t.Errorf("the log has exit code %d, and belay's is %d", e.ExitCode, *e.BelayCode)
		}
	})
}

// Four runs that go on with one session at the same time wait for each other, and each counts what it has spent itself.
func TestBooks_ConcurrentResumers(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) {
		s := a.New(t, version, "200(in=200, out=20)x*")
		first := s.Belay(nil, a.ask("say hi"))
		first.Exits(0)
		var all []*stage.Running
		for range 4 {
			all = append(all, s.StartBelay([]string{"--resume", first.Result.SessionID}, a.ask("say more"), nil))
		}
		for _, one := range all {
			r := one.Wait()
			r.Exits(0)
			r.Used(200, 20)
			costsAsMuch(r, first)
		}
	})
}

// costsAsMuch checks that a call has cost as much as another; neither tells of a cost if the CLI does not.
func costsAsMuch(r, other *stage.Ran) {
	r.T.Helper()
	cost, want := r.Result.Usage.Cost, other.Result.Usage.Cost
	if (cost == nil) != (want == nil) || cost != nil && math.Abs(*cost-*want) > 1e-7 {
		r.T.Errorf("the cost is %s, want %s", show(cost), show(want))
	}
}

// charged is what the API has charged for: the answers that came to their end.
func charged(s *stage.Stage) (input, output int) {
	for _, q := range s.API.Main() {
		if q.End == rehearse.Whole && q.Status == 200 {
			input += q.Usage.Input + q.Usage.CacheRead // codex's input includes what was cached
			output += q.Usage.Output
		}
	}
	return input, output
}
