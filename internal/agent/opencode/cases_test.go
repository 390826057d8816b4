package opencode_test

import (
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent/agenttest"
	"github.com/belay-run/belay/internal/agent/opencode"
)

var now = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func TestJudge_RealOutcomes(t *testing.T) {
	agenttest.Outcomes(t, "testdata/cases.jsonl", 7, now, opencode.New([]string{"opencode"}, nil, ""))
}

// More outcomes of 1.18.33, and what other versions and services say in its forms.
func TestJudge_Runs(t *testing.T) {
	agenttest.Outcomes(t, "testdata/runs.jsonl", 60, now, opencode.New([]string{"opencode"}, nil, ""))
}

// These were made with the real opencode and the stand-in for its service, by TestRecord of internal/e2e/agents; the locked
// database by TestINTEG01_Calls, on a busy machine.
func TestJudge_RecordedOutcomes(t *testing.T) {
	agenttest.Outcomes(t, "testdata/recorded.jsonl", 37, now, opencode.New([]string{"opencode"}, nil, ""))
}

// None of the outcomes has another model at work.
func TestOutcomes_Models(t *testing.T) {
	agenttest.Models(t, "testdata/cases.jsonl", opencode.New([]string{"opencode"}, nil, ""), 0)
	agenttest.Models(t, "testdata/runs.jsonl", opencode.New([]string{"opencode"}, nil, ""), 0)
}

// Services that are not the CLI's own, and gateways, behind it: what each is and where its words are from stands in package agent.
func TestJudge_Services(t *testing.T) {
	agenttest.Outcomes(t, "testdata/services.jsonl", 18, time.Date(2026, 11, 19, 4, 30, 0, 0, time.UTC), opencode.New([]string{"opencode"}, nil, ""))
}
