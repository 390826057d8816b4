package codex

import (
	"fmt"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/test/must"
)

// Codex names its model in its record, and says in an item that its service has given the request to another one. The line is that of 0.166.0.
func TestFollow_Models(t *testing.T) {
	home := t.TempDir()
	p := New(words("codex exec hi"), []string{"CODEX_HOME=" + home}, "")
	plan, err := p.Plan(agent.Turn{})
	must.OK(t, err)
	f := p.Follow(plan)
	writeRollout(t, home, "2026/11/15", fmt.Sprintf(`{"timestamp":%q,"type":"turn_context","payload":{"model":"gpt-5.3-codex"}}`+"\n", time.Now().UTC().Format(time.RFC3339Nano)))
	for _, step := range []struct {
		line, used string
	}{
		{started, "gpt-5.3-codex"},
		{warning, "gpt-5.3-codex"},
		{`{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"model rerouted: a-1 -> b-2"}}`, "gpt-5.3-codex"},
		{`{"type":"item.completed","item":{"id":"item_1","type":"error","message":"model rerouted: gpt-5.3-codex -> gpt-5.2 (HighRiskCyberActivity)"}}`, "gpt-5.2"},
		{hello, "gpt-5.2"},
		{completed, "gpt-5.2"},
	} {
		if got := f.Line(agent.Line{Text: []byte(step.line)}).Models; got != (agent.ModelUse{Begun: "gpt-5.3-codex", Used: step.used}) {
			t.Errorf("%s: %+v", step.line, got)
		}
	}
}
