package gh_test

import (
	"testing"
	"time"

	"github.com/belay-run/belay/agent/agenttest"
	"github.com/belay-run/belay/agent/gh"
)

var now = time.Date(2026, 11, 15, 0, 30, 0, 0, time.UTC)

func TestJudge_RealOutcomes(t *testing.T) {
	agenttest.Outcomes(t, "testdata/cases.jsonl", 32, now, gh.New(nil, nil, ""))
}
