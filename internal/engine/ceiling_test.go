package engine_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// An agent that was ended for a ceiling continues once, and is told why; a plain command is started again only if retries were asked for. The second time
// it is over, with 75.
func TestCeiling(t *testing.T) {
	memory := supervise.Excess{Value: 400 << 20, Limit: 300 << 20, Largest: []supervise.Proc{{PID: 7, Name: "no\x1b[31mde\n\xff", Memory: 200 << 20}}}
	disk := supervise.Excess{Disk: "/work", Value: 40 << 20, Limit: 50 << 20}
	work := enginetest.Line(enginetest.Event{Session: oneSession, Answered: true, Text: "I begin."})
	done := enginetest.Line(enginetest.Event{Text: "Done.", Done: true, Class: verdict.OK})
	attempt := func(x supervise.Excess) enginetest.Attempt {
		return enginetest.Attempt{Steps: []enginetest.Step{work, enginetest.Exceed(x)}}
	}
	for name, tt := range map[string]struct {
		attempts []enginetest.Attempt
		plain    bool
		retries  int
		class    verdict.Class
		code, n  int
		says     string
		told     string // an agent, when it continues
	}{
		"Once":         {[]enginetest.Attempt{attempt(memory), {Steps: []enginetest.Step{done}}}, false, 0, verdict.OK, 0, 2, "", "400.0 MB of memory, and the limit is 300.0 MB. The largest processes were: 7 (node �) 200.0 MB"},
		"Twice":        {[]enginetest.Attempt{attempt(memory)}, false, 0, verdict.Resources, 75, 2, "claude used 400.0 MB of memory (limit 300.0 MB) and was terminated. Largest: 7 (node �) 200.0 MB", "Go on in a way that needs less memory"},
		"Disk":         {[]enginetest.Attempt{attempt(disk)}, false, 0, verdict.Resources, 75, 2, "only 40.0 MB are free on the disk of /work (limit 50.0 MB)", "write less"},
		"NoRetries":    {[]enginetest.Attempt{attempt(memory)}, false, retry.None, verdict.Resources, 75, 1, "claude used", ""},
		"Delivered":    {[]enginetest.Attempt{{Steps: []enginetest.Step{done, enginetest.Exceed(memory)}}}, false, 0, verdict.OK, 0, 1, "", ""},
		"Plain":        {[]enginetest.Attempt{attempt(memory)}, true, 0, verdict.Resources, 75, 1, "sh used", ""},
		"PlainRetries": {[]enginetest.Attempt{attempt(memory)}, true, 5, verdict.Resources, 75, 2, "sh used", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var turns []agent.Turn
				args, r := "claude", agentRunner(agent.Info{})
				r.Profile.(*enginetest.Agent).Turns = func(t agent.Turn) { turns = append(turns, t) }
				if tt.plain {
					args, r = "sh", &engine.Runner{}
				}
				r.Policy.MaxRetries, r.Policy.CountThrottles = tt.retries, tt.retries < 0
				r.Starter, r.Ceilings = &enginetest.Script{Attempts: tt.attempts}, engine.Ceilings{Memory: 300 << 20, FreeDisk: 50 << 20}
				res, _ := r.Run(t.Context(), belaytype.Command{Args: []string{args}})
				if res.Verdict.Class != tt.class || res.ExitCode != tt.code || res.Attempts != tt.n || !strings.Contains(res.Error, tt.says) {
					t.Errorf("%s, exit code %d after %d attempts: %q", res.Verdict.Class, res.ExitCode, res.Attempts, res.Error)
				}
				told := slices.IndexFunc(turns, func(turn agent.Turn) bool {
					return turn.Continue && turn.Session == oneSession && tt.told != "" && strings.Contains(*turn.Prompt, tt.told)
				})
				if (told < 0) != (tt.told == "") {
					t.Errorf("%+v", turns)
				}
			})
		})
	}
}
