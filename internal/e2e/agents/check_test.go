//go:build linux

package agents_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/test/must"
)

// checkedAgents are all that can work. Every day it is codex, whose start costs the least: what Belay does is the same for all.
func checkedAgents(t *testing.T, do func(t *testing.T, a *agent)) {
	t.Parallel()
	for _, a := range agents {
		if a != codex && !full || a.work == nil {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			do(t, a)
		})
	}
}

// An agent that says that it is done and has done nothing is told what the check has found, and mends it in the same session. Nothing is asked twice.
func TestCheck_Mended(t *testing.T) {
	checkedAgents(t, func(t *testing.T, a *agent) {
		s := a.New(t, "", "200, tool(bash: touch done), 200")
		r := s.Belay([]string{"--check", "cat >answer; echo done is missing; test -e done"}, a.work("make it done"))
		r.Exits(0)
		r.Is("", 2)
		s.Asked(3)
		s.ToldOnce("make it done")
		s.Wrote("answer", strings.TrimSuffix(answer, "\n"))
		var checks []journal.Check
		sessions := map[string]bool{}
		for _, e := range s.Log() {
			checks, sessions[e.Session] = append(checks, *e.Check), true
		}
		if len(checks) != 2 || checks[0].Passed || checks[0].ExitCode != 1 || checks[0].Round != 0 || !checks[1].Passed || checks[1].Round != 1 || len(sessions) != 1 {
			t.Errorf("checks %+v in sessions %v", checks, sessions)
		}
		if u := r.Result.Usage; u.Input != 30 || u.Output != 15 || r.Result.Requests != 3 {
			t.Errorf("%d requests, %+v, and three were served", r.Result.Requests, u)
		}
		s.NobodyLeft()
	})
}

// One that never mends it is told three times. Its last answer is on stdout, and the exit code is 1. Every day check.txtar of cmd/belay and TestCheck_Stories
// (internal/engine) have it.
func TestCheck_NeverMended(t *testing.T) {
	stage.InFull(t)
	checkedAgents(t, func(t *testing.T, a *agent) {
		s := a.New(t, "", "200")
		r := s.Belay([]string{"--check", "false", "--exit-code", "child"}, a.ask("say hi"))
		r.Exits(1)
		r.Is("not_done", 4)
		r.Prints(answer)
		s.Asked(4)
	})
}

// A batch that is killed while a task is being checked resumes its session, and checks again. What the check has started is ended.
func TestCheck_BatchKilled(t *testing.T) {
	t.Parallel()
	s := codex.New(t, "", "200")
	s.Leaves = true // until the next run
	args := batchOf(s, 1, 1, codex.ask()...)
	args = append([]string{"batch", "--check", "test -e killed || { touch checking; setsid sleep 1000; }"}, args[1:]...)
	run := s.Start(s.Command("belay", args...), nil)
	s.Eventually("it is checked", func() bool { return s.Has("checking") })
	run.Cmd.Process.Kill()
	run.Quietly()
	must.OK(t, os.WriteFile(filepath.Join(s.Work, "killed"), nil, 0o600))
	s.Leaves = false
	s.Run("belay", args...).Exits(0)
	batchResults(s, 1)
	s.Asked(2)
	s.ToldOnce("say hi 0")
	s.NobodyLeft()
}
