//go:build linux

package agents_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// A model that makes the same call twenty times is stopped at the fifth. It is asked once more, is told why, and makes no other. How each CLI tells of its
// calls is in TestBooks_Details.
func TestRunaway_Repeats(t *testing.T) {
	checkedAgents(t, func(t *testing.T, a *agent) {
		s := a.New(t, "", "tool(bash: echo once more)x20, 200")
		most := 5
		if a == gemini {
			most = 4 // by itself it stops before the fifth
		}
		r := s.Belay([]string{"--max-repeats", fmt.Sprint(most), "--base-delay", "10ms"}, a.work("say hi"))
		r.Exits(75)
		r.Is("runaway", 2)
		r.Says(fmt.Sprintf("made the same call %d times in a row (limit %d) and was terminated:", most, most), "echo once more")
		// A CLI that asks again before it is stopped may do so a few times on a busy machine; opencode tells of a call only when it has ended.
		if n := s.Requests(); n < 2*most || n >= 20 {
			t.Errorf("%d requests", n)
		}
		if told := s.LastTold(); stage.Count(told, fmt.Sprintf("the same tool call %d times in a row", most)) != 1 || stage.Count(told, "say hi") != 1 {
			t.Errorf("told %q", told)
		}
		s.NobodyLeft()
	})
}

// Five sub-agents at a time are too many where three may work, in each way that these CLIs start them.
func TestRunaway_Agents(t *testing.T) {
	t.Parallel()
	sub, most := `{"description":"sub","prompt":"do it","subagent_type":"general-purpose","run_in_background":false}`, "3"
	spawn := func(name string) string {
		return "tool(collaboration__spawn_agent: `{\"task_name\":\"" + name + "\",\"message\":\"do it\"}`)"
	}
	for name, tt := range map[string]struct {
		*agent
		script, most, says string
		args               []string
	}{
		"claude":           {claude, "tool(Agent: `" + sub + "`, calls=5), 200", most, "claude had 4 sub-agents at a time (limit 3)", []string{"--allowedTools", "Agent"}},
		"claudeBackground": {claude, "tool(Agent: `" + strings.Replace(sub, "false", "true", 1) + "`, calls=5), 200(after=1s)x*", most, "claude had 4 sub-agents at a time (limit 3)", []string{"--allowedTools", "Agent"}},
		// Its record is looked at now and then: there may be a fifth by then.
		"codex": {codex, "tool(multi_agent_v1__spawn_agent: `{\"message\":\"do it\"}`, calls=5), 200(after=8s)x*", most, " sub-agents at a time (limit 3)", []string{"-m", "gpt-5.2-codex"}},
		// To newer models codex gives another kind of sub-agents, and allows three of them. Whichever asks first starts the next one.
		"codexNewer": {codex, spawn("a") + ", " + spawn("b") + ", " + spawn("c") + ", 200(after=8s)x*", "2", "codex had 3 sub-agents at a time (limit 2)", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "claudeBackground" || name == "codex" {
				stage.InFull(t) // every day the other way of each CLI is shown
			}
			s := tt.New(t, "", tt.script)
			r := s.Belay([]string{"--max-agents", tt.most, "--base-delay", "10ms"}, append(tt.work("say hi"), tt.args...))
			r.Exits(0)
			r.Is("", 2)
			r.Says(tt.says)
			if told := s.LastTold(); stage.Count(told, "sub-agents of yours worked at a time, and at most "+tt.most+" may") != 1 {
				t.Errorf("told %q", told)
			}
			s.NobodyLeft()
		})
	}
}
