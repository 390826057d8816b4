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

// Of all the outcomes only the one of an overload has another model at work: sub-agents, titles and spellings are not another model.
func TestOutcomes_Models(t *testing.T) {
	agenttest.Models(t, "testdata/cases.jsonl", claude.New([]string{"claude", "-p"}, []string{}), 8, "claude/fallback-overloaded/stream-json")
	agenttest.Models(t, "testdata/runs.jsonl", claude.New([]string{"claude", "-p"}, []string{}), 0)
}

// Services that are not the CLI's own, and gateways, behind it: what each is and where its words are from stands in package agent.
func TestJudge_Services(t *testing.T) {
	agenttest.Outcomes(t, "testdata/services.jsonl", 60, time.Date(2026, 11, 19, 4, 30, 0, 0, time.UTC), claude.New([]string{"claude", "-p"}, []string{}))
}
