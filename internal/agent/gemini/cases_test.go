package gemini_test

import (
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent/agenttest"
	"github.com/belay-run/belay/internal/agent/gemini"
	"github.com/belay-run/belay/verdict"
)

var now = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func TestJudge_RealOutcomes(t *testing.T) {
	agenttest.Outcomes(t, "testdata/cases.jsonl", 21, now, gemini.New([]string{"gemini"}, nil, ""))
}

// These were made with the real gemini and the stand-in for its service, by TestRecord of internal/e2e/agents.
func TestJudge_RecordedOutcomes(t *testing.T) {
	agenttest.Outcomes(t, "testdata/recorded.jsonl", 96, now, gemini.New([]string{"gemini"}, nil, ""))
}

// What a run that was told to end has printed by then: nothing, or text that breaks off. It ends with 0 like one that is well.
func TestJudge_SavedText(t *testing.T) {
	p := gemini.New([]string{"gemini"}, nil, "")
	for text, want := range map[string]verdict.Class{"hello\n": verdict.OK, "hel": verdict.Interrupted, "": verdict.Interrupted, "# Title\n\nThe code is {\n}\n": verdict.OK} {
		if v := p.Judge(verdict.Outcome{Stdout: verdict.ExcerptOf(text)}, now); v.Class != want {
			t.Errorf("%q: %s by %s", text, v.Class, v.Rule)
		}
	}
}

// None of the outcomes has another model at work.
func TestOutcomes_Models(t *testing.T) {
	agenttest.Models(t, "testdata/cases.jsonl", gemini.New([]string{"gemini"}, nil, ""), 0)
}

// Services that are not the CLI's own, and gateways, behind it: what each is and where its words are from stands in package agent.
func TestJudge_Services(t *testing.T) {
	agenttest.Outcomes(t, "testdata/services.jsonl", 30, time.Date(2026, 11, 19, 4, 30, 0, 0, time.UTC), gemini.New([]string{"gemini"}, nil, ""))
}
