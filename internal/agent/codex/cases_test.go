package codex_test

import (
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent/agenttest"
	"github.com/belay-run/belay/internal/agent/codex"
)

var now = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func TestJudge_RealOutcomes(t *testing.T) {
	agenttest.Outcomes(t, "testdata/cases.jsonl", 28, now, codex.New([]string{"codex"}, nil, ""))
}

// More outcomes of versions 0.120.0 to 0.166.0, against an API that was scripted to fail in other ways than in the cases; what a run of
// another command or version says in the same words is left out.
func TestJudge_Runs(t *testing.T) {
	agenttest.Outcomes(t, "testdata/runs.jsonl", 150, now, codex.New([]string{"codex"}, nil, ""))
}

// None of the outcomes has another model at work.
func TestOutcomes_Models(t *testing.T) {
	agenttest.Models(t, "testdata/cases.jsonl", codex.New([]string{"codex"}, nil, ""), 0)
	agenttest.Models(t, "testdata/runs.jsonl", codex.New([]string{"codex"}, nil, ""), 0)
}

// Services that are not the CLI's own, and gateways, behind it: what each is and where its words are from stands in package agent.
func TestJudge_Services(t *testing.T) {
	agenttest.Outcomes(t, "testdata/services.jsonl", 10, time.Date(2026, 11, 19, 4, 30, 0, 0, time.UTC), codex.New([]string{"codex"}, nil, ""))
}
