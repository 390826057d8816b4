package claude_test

import (
	"testing"
	"time"

	"github.com/belay-run/belay/agent/agenttest"
	"github.com/belay-run/belay/agent/claude"
)

func TestJudge_RealOutcomes(t *testing.T) {
	agenttest.Outcomes(t, "testdata/cases.jsonl", 50, time.Date(2026, 11, 15, 1, 0, 0, 0, time.UTC), claude.New([]string{"claude", "-p"}, []string{}))
}
