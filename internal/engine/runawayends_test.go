package engine_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/verdict"
)

// An agent that makes the same call too often, or has too many sub-agents, is ended at once, and continues once with words about that. What it says of the call
// has no secret, no control characters and no end.
func TestRunaway_Ended(t *testing.T) {
	call := func(input string) enginetest.Step {
		return enginetest.Line(enginetest.Event{Session: oneSession, Answered: true, Text: "I try.", Use: enginetest.Use{Tool: "Bash", Input: input}})
	}
	agents := func(n int) enginetest.Step {
		return enginetest.Line(enginetest.Event{Session: oneSession, Answered: true, Text: "I try.", Use: enginetest.Use{Agents: n}})
	}
	const build = `{"command":"make"}`
	done := enginetest.Line(enginetest.Event{Text: "Done.", Done: true, Class: verdict.OK})
	hang := enginetest.Wait(time.Hour)
	repeated := enginetest.Attempt{Steps: []enginetest.Step{call(build), call(build), call(build), hang}}
	success := enginetest.Attempt{Steps: []enginetest.Step{done}}
	for name, tt := range map[string]struct {
		attempts []enginetest.Attempt
		limits   engine.Ceilings
		info     agent.Info
		record   func() int
		class    verdict.Class
		code, n  int
		says     string
		told     string
	}{
		"Once":         {attempts: []enginetest.Attempt{repeated, success}, limits: engine.Ceilings{Repeats: 3}, class: verdict.OK, n: 2, told: "you made the same tool call 3 times in a row: Bash make. Do not repeat it"},
		"Twice":        {attempts: []enginetest.Attempt{repeated}, limits: engine.Ceilings{Repeats: 3}, class: verdict.Runaway, code: 75, n: 2, says: "claude made the same call 3 times in a row (limit 3) and was terminated: Bash make", told: "Try another way"},
		"SideBySide":   {attempts: []enginetest.Attempt{{Steps: []enginetest.Step{enginetest.Line(enginetest.Event{Session: oneSession, Answered: true, Text: "I try.", Use: enginetest.Use{Tool: "Bash", Input: build, Times: 3}}), hang}}, success}, limits: engine.Ceilings{Repeats: 3}, class: verdict.OK, n: 2, told: "3 times in a row"},
		"NotYet":       {attempts: []enginetest.Attempt{{Steps: []enginetest.Step{call(build), call(build), done}}}, limits: engine.Ceilings{Repeats: 3}, class: verdict.OK, n: 1},
		"NoLimit":      {attempts: []enginetest.Attempt{{Steps: []enginetest.Step{call(build), call(build), call(build), agents(9), done}}}, class: verdict.OK, n: 1},
		"Agents":       {attempts: []enginetest.Attempt{{Steps: []enginetest.Step{agents(3), agents(4), hang}}}, limits: engine.Ceilings{Agents: 3}, class: verdict.Runaway, code: 75, n: 2, says: "claude had 4 sub-agents at a time (limit 3) and was terminated", told: "at most 3 may"},
		"OnRecord":     {attempts: []enginetest.Attempt{{Steps: []enginetest.Step{agents(0), hang}}}, limits: engine.Ceilings{Agents: 3}, record: func() int { return 5 }, class: verdict.Runaway, code: 75, n: 2, says: "had 5 sub-agents", told: "5 sub-agents"},
		"FewOnRecord":  {attempts: []enginetest.Attempt{{Steps: []enginetest.Step{agents(0), enginetest.Wait(time.Minute), done}}}, limits: engine.Ceilings{Agents: 3}, record: func() int { return 3 }, class: verdict.OK, n: 1},
		"Conversation": {attempts: []enginetest.Attempt{repeated}, limits: engine.Ceilings{Repeats: 3}, info: agent.Info{Once: true, Form: agent.Stream}, class: verdict.Runaway, code: 75, n: 1, says: "3 times in a row"},
		"Turns": {attempts: []enginetest.Attempt{{Steps: []enginetest.Step{call(build), call(build), enginetest.Line(enginetest.Event{Talk: enginetest.Talk{TurnOver: true, Waiting: true}}), call(build), done}}},
			limits: engine.Ceilings{Repeats: 3}, info: agent.Info{Once: true, Form: agent.Stream}, class: verdict.OK, n: 1},
		"Secret": {attempts: []enginetest.Attempt{{Steps: slices.Repeat([]enginetest.Step{call(`{"command":"curl -H 'Authorization: Bearer sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789' \u001b[31m\n` + strings.Repeat("x ", 500) + `"}`)}, 4)}},
			limits: engine.Ceilings{Repeats: 3}, class: verdict.Runaway, code: 75, n: 2, says: "terminated: Bash curl -H", told: "Bash curl"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var turns []agent.Turn
				tt.info.TellsCalls, tt.info.TellsAgents = true, true
				r := agentRunner(tt.info)
				profile := r.Profile.(*enginetest.Agent)
				profile.Turns = func(t agent.Turn) { turns = append(turns, t) }
				if tt.record != nil {
					profile.Beside = &enginetest.Beside{Agents: tt.record}
				}
				r.Starter, r.Ceilings = &enginetest.Script{Attempts: tt.attempts}, tt.limits
				res, _ := r.Run(t.Context(), belaytype.Command{Args: []string{"claude"}})
				if res.Verdict.Class != tt.class || res.ExitCode != tt.code || res.Attempts != tt.n || !strings.Contains(res.Error, tt.says) {
					t.Errorf("%s, exit code %d after %d attempts: %q", res.Verdict.Class, res.ExitCode, res.Attempts, res.Error)
				}
				if strings.Contains(res.Error, "sk-ant") || strings.ContainsAny(res.Error, "\x1b\n") || len(res.Error) > 300 {
					t.Errorf("%q", res.Error)
				}
				told := slices.IndexFunc(turns, func(turn agent.Turn) bool {
					return turn.Continue && turn.Session == oneSession && tt.told != "" && strings.Contains(*turn.Prompt, tt.told) && !strings.Contains(*turn.Prompt, "sk-ant")
				})
				if (told < 0) != (tt.told == "") {
					t.Errorf("%+v", turns)
				}
			})
		})
	}
}

// A limit on what a command does not tell of is refused before anything is started.
func TestRunaway_Untold(t *testing.T) {
	for says, r := range map[string]*engine.Runner{
		"sh does not tell of its tool calls": {Limits: engine.Limits{Ceilings: engine.Ceilings{Repeats: 3}}},
		"sh does not tell of its sub-agents": {Limits: engine.Limits{Ceilings: engine.Ceilings{Agents: 3}}},
	} {
		r.Starter = &enginetest.Script{}
		if _, err := r.Run(t.Context(), belaytype.Command{Args: []string{"sh"}}); err == nil || err.Error() != says {
			t.Errorf("%v, want %s", err, says)
		}
	}
}
