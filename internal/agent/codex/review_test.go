package codex

import (
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// What codex says of a review that has failed is not the reviewer's.
func TestLine_ReviewInterrupted(t *testing.T) {
	p := New(words("codex exec review --uncommitted"), nil, "")
	plan, err := p.Plan(agent.Turn{})
	must.OK(t, err)
	f := p.Follow(plan)
	const message = `{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"Review was interrupted. Please re-run /review and wait for it to complete."}}`
	for _, l := range []string{started, turn, refused, message, failed} {
		if n := f.Line(agent.Line{Text: []byte(l)}); n.Answered || l == message && n.Show != agent.Hold {
			t.Errorf("%s: %+v", l, n)
		}
	}
	if v := f.Judge(verdict.Outcome{ExitCode: 1}, noon); v.Class != verdict.Auth {
		t.Errorf("%+v", v)
	}
	if f.Account().Active || f.Answer().String() != "" {
		t.Errorf("%+v, %q", f.Account(), f.Answer())
	}
}
