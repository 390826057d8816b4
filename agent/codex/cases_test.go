package codex_test

import (
	"testing"
	"time"

	"github.com/belay-run/belay/agent/agenttest"
	"github.com/belay-run/belay/agent/codex"
)

var now = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func TestJudge_RealOutcomes(t *testing.T) {
	agenttest.Outcomes(t, "testdata/cases.jsonl", 28, now, codex.New([]string{"codex"}, nil, ""))
}
