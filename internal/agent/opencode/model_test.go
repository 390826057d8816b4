package opencode_test

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
)

// Opencode names the model of each request in its log. The one that makes up a title, sums up or works for a sub-agent is not another one.
func TestFollow_Models(t *testing.T) {
	same := agent.ModelUse{Begun: "gpt-5", Used: "gpt-5"}
	for name, tt := range map[string]struct {
		line string
		want agent.ModelUse
	}{
		"Asked":    {asks, same},
		"Another":  {strings.Replace(asks, "gpt-5", "gpt-4.1", 1), agent.ModelUse{Begun: "gpt-5", Used: "gpt-4.1"}},
		"Title":    {strings.NewReplacer("gpt-5", "gpt-4.1", "small=false", "small=true").Replace(asks), same},
		"SumsUp":   {strings.NewReplacer("gpt-5", "gpt-4.1", "agent=build", "agent=compaction").Replace(asks), same},
		"Subagent": {strings.NewReplacer("gpt-5", "gpt-4.1", session, "ses_0000000000000000000000000a").Replace(asks), same},
	} {
		t.Run(name, func(t *testing.T) {
			f := follow(t, "run hi")
			read(f, begins, asks)
			if info, _ := f.StderrLine([]byte(tt.line)); info.Models != tt.want {
				t.Errorf("%+v", info.Models)
			}
		})
	}
}
