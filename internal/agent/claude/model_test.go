package claude

import (
	"testing"

	"github.com/belay-run/belay/internal/agent"
)

// Which model works is that of the main thread: as claude names it at its start, as it answers, and as claude says that another takes over. The lines are those of 2.1.325.
func TestFollow_Models(t *testing.T) {
	const (
		starts   = `"type":"system","subtype":"init","model":"claude-sonnet-5-5"`
		answers  = `"type":"assistant","parent_tool_use_id":null,"message":{"id":"m1","model":"claude-sonnet-5-5","content":[]}`
		other    = `"type":"assistant","parent_tool_use_id":null,"message":{"id":"m2","model":"claude-haiku-5-5","content":[]}`
		begins   = `"type":"stream_event","parent_tool_use_id":null,"event":{"type":"message_start","message":{"id":"m3","model":"claude-haiku-5-5"}}`
		subagent = `"type":"assistant","parent_tool_use_id":"toolu_1","message":{"id":"m4","model":"claude-haiku-5-5","content":[]}`
		own      = `"type":"assistant","parent_tool_use_id":null,"message":{"id":"m5","model":"<synthetic>","content":[]}`
		usage    = `"type":"result","subtype":"success","result":"hi","modelUsage":{"claude-sonnet-5-5":{},"claude-haiku-5-5":{}}`
		overload = `"type":"system","subtype":"model_fallback","trigger":"overloaded","original_model":"claude-sonnet-5-5","fallback_model":"claude-haiku-5-5"`
		retired  = `"type":"system","subtype":"model_fallback","trigger":"model_not_found","original_model":"claude-sonnet-5-5","fallback_model":"claude-haiku-5-5"`
		refused  = `"type":"system","subtype":"model_refusal_fallback","trigger":"refusal","direction":"retry","scope":"session","original_model":"claude-sonnet-5-5","fallback_model":"claude-haiku-5-5"`
		aside    = `"type":"system","subtype":"model_refusal_fallback","trigger":"refusal","direction":"retry","scope":"local","original_model":"claude-sonnet-5-5","fallback_model":"claude-haiku-5-5"`
		declined = `"type":"system","subtype":"model_consent_fallback","choice":"switch_default","original_model":"claude-sonnet-5-5","fallback_model":"claude-haiku-5-5"`
	)
	same := agent.ModelUse{Begun: "claude-sonnet-5-5", Used: "claude-sonnet-5-5"}
	changed := agent.ModelUse{Begun: "claude-sonnet-5-5", Used: "claude-haiku-5-5"}
	for name, tt := range map[string]struct {
		args  string
		lines []string
		want  agent.ModelUse
	}{
		"Asked":      {"-p hi", []string{starts, answers, usage}, same},
		"Another":    {"-p hi", []string{starts, answers, other}, changed},
		"Begins":     {"-p hi", []string{starts, begins}, changed},
		"Subagent":   {"-p hi", []string{starts, answers, subagent}, same},
		"OwnWords":   {"-p hi", []string{starts, answers, own}, same},
		"Overloaded": {"-p hi", []string{starts, overload, other}, agent.ModelUse{Begun: "claude-sonnet-5-5", Used: "claude-haiku-5-5", Overloaded: true}},
		"Retired":    {"-p hi", []string{starts, retired}, changed},
		"Refused":    {"-p hi", []string{starts, answers, refused}, changed},
		"Aside":      {"-p hi", []string{starts, answers, aside}, same},
		"Declined":   {"-p hi", []string{starts, declined}, changed},
		"NextTurn":   {"-p hi", []string{starts, overload, other, starts, answers}, same},
		"Plan":       {"-p hi --model opusplan", []string{starts, other}, agent.ModelUse{Used: "claude-haiku-5-5"}},
		"Deployment": {"-p hi", []string{`"type":"system","subtype":"init","model":"my-sonnet-1"`, answers}, agent.ModelUse{Used: "claude-sonnet-5-5"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := play(t, tt.args)
			var last agent.LineInfo
			for _, line := range tt.lines {
				last = f.show(line)
			}
			if last.Models != tt.want {
				t.Errorf("%+v, want %+v", last.Models, tt.want)
			}
		})
	}
}
