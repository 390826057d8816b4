package gh_test

import (
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent/agenttest"
	"github.com/belay-run/belay/internal/agent/gh"
)

var now = time.Date(2026, 11, 15, 0, 30, 0, 0, time.UTC)

func TestJudge_RealOutcomes(t *testing.T) {
	agenttest.Outcomes(t, "testdata/cases.jsonl", 32, now, gh.New(nil, nil, ""))
}

// More outcomes of 2.100.0, against an API that was scripted to fail in other ways than in the cases; what a run of
// another command or version says in the same words is left out.
func TestJudge_Runs(t *testing.T) {
	agenttest.Outcomes(t, "testdata/runs.jsonl", 250, now, gh.New(nil, nil, ""))
}
