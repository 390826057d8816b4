package claude

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// The cost that is estimated from the messages is the one that claude reports at the end. The runs are real ones of claude
// 2.1.325 against a scripted API: 22 models, one call and several, caches of both kinds, long prompts, the fast mode, calls
// bound to a region, and searches of the web.
func TestEstimate_OfRecordedRuns(t *testing.T) {
	f, err := os.Open("testdata/costs.jsonl")
	must.OK(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	runs, worst := 0, 0.0
	var models []string
	for lines.Scan() {
		var run struct {
			ID, Model string
			Cost      float64
			Lines     []json.RawMessage
		}
		must.OK(t, json.Unmarshal(lines.Bytes(), &run))
		runs++
		if !slices.Contains(models, run.Model) {
			models = append(models, run.Model)
		}
		p := New([]string{"claude", "-p", "work"}, []string{})
		plan, err := p.Plan(agent.Turn{})
		must.OK(t, err)
		follower := p.Follow(plan)
		var turns verdict.Usage
		for _, line := range run.Lines {
			if turn := follower.Line(agent.Line{Text: line}).Turn; turn != nil {
				turns = turns.Add(*turn)
			}
		}
		a := follower.Account()
		for what, cost := range map[string]*float64{"estimate": a.Estimate, "turns": turns.CostUSD} {
			if cost == nil {
				t.Errorf("run %s of %s: no %s", run.ID, run.Model, what)
				continue
			}
			off := math.Abs(*cost-run.Cost) / run.Cost
			if worst = max(worst, off); off > 0.02 {
				t.Errorf("run %s of %s: the %s is %v, reported were %v", run.ID, run.Model, what, *cost, run.Cost)
			}
		}
		if reported := a.Usage; reported.CostUSD == nil || *reported.CostUSD != run.Cost || reported.Estimated {
			t.Errorf("run %s: the cost that was reported is %+v", run.ID, reported)
		}
	}
	if t.Logf("%d runs of %d models; the largest deviation is %.2g %%", runs, len(models), worst*100); runs < 50 {
		t.Errorf("only %d runs", runs)
	}
}
