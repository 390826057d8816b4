package claude_test

import (
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent/agenttest"
	"github.com/belay-run/belay/internal/agent/claude"
)

func TestJudge_RealOutcomes(t *testing.T) {
	agenttest.Outcomes(t, "testdata/cases.jsonl", 50, time.Date(2026, 11, 15, 1, 0, 0, 0, time.UTC), claude.New([]string{"claude", "-p"}, []string{}))
}

// More outcomes of versions 1.0.60 to 2.1.325, against an API that was scripted to fail in other ways than in the cases; what a run of
// another command or version says in the same words is left out.
func TestJudge_Runs(t *testing.T) {
	agenttest.Outcomes(t, "testdata/runs.jsonl", 140, time.Date(2026, 11, 15, 1, 0, 0, 0, time.UTC), claude.New([]string{"claude", "-p"}, []string{}))
}
