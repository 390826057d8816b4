//go:build linux

package claude_test

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// What is wrong is said in one line, before anything starts.
func TestWrong(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "200")
	for _, flags := range []string{"--profile cloud", "--resume not-an-id", "--resume-or-new ../../x", "--max-cost much", "--max-cost -1", "--stall-timeout soon",
		"--resume last --resume-or-new last", "--prompt a --prompt-file b", "--prompt-file /nonexistent/prompt"} {
		r := s.Belay(strings.Fields(flags), []string{"-p", "hi"})
		if r.Code != 2 || strings.Count(r.Stderr, "\n") > 2 || r.Stderr == "" || r.Stdout != "" {
			t.Errorf("%s: exit code %d\n%s", flags, r.Code, r.Stderr)
		}
	}
	s.Asked(0)
}

// --max-cost stops further attempts once it is spent.
func TestMaxCost(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		script := "tool(bash: `true`, in=100000, out=1000), 500(x-should-retry=false)x*"
		s := newStage(t, version, script)
		s.Env = []string{"CLAUDE_CODE_MAX_RETRIES=0"}
		r := s.Belay([]string{"--base-delay", "100ms", "--max-cost", "0.0001"}, []string{"-p", "say hi", "--allowedTools", "Bash"})
		r.Is("server_error", 1)
		r.Exits(75)
		r.Says("--max-cost is used up")
		s.Asked(2)
		s.Rehearse(script)
		r = s.Belay([]string{"--base-delay", "100ms", "--max-cost", "100", "--max-retries", "1"}, []string{"-p", "say hi", "--allowedTools", "Bash"})
		r.Is("server_error", 2)
		s.Asked(3)
	}, "2.0.77")
}

// What the command line allows the whole run is not multiplied by resuming.
func TestMaxTurns_NotMultiplied(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "tool(bash: `true`)x2, 500(x-should-retry=false), tool(bash: `true`)x*")
		s.Env = []string{"CLAUDE_CODE_MAX_RETRIES=0"}
		r := s.Belay([]string{"--base-delay", "100ms"}, []string{"-p", "say hi", "--allowedTools", "Bash", "--max-turns", "4"})
		r.Exits(1)
		if r.Result.ErrorType != "limit_reached" || r.Result.Attempts > 2 {
			t.Errorf("%+v", r.Result)
		}
		if n := s.Requests(); n > 5 { // four turns, and the one that failed
			t.Errorf("%d requests", n)
		}
	}, "2.0.77")
}

// A gate that was learned by one run is there for the next, which does not ask in vain.
func TestGate_NextRunWaits(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "usage-limit(resets=1h)x*")
		first := s.Belay(nil, []string{"-p", "say hi"})
		first.Exits(75)
		n := s.Requests()
		second := s.Belay(nil, []string{"-p", "say hi"})
		second.Exits(75)
		second.Says("gate claude:", "belay gates reset")
		if second.Result.RetryAt != first.Result.RetryAt || second.Result.Attempts != 0 {
			t.Errorf("%+v after %+v", second.Result, first.Result)
		}
		s.Asked(n)
		s.Belay([]string{"--no-gate"}, []string{"-p", "say hi"}).Exits(75)
		if s.Requests() == n {
			t.Error("--no-gate has not asked")
		}
		reset := s.Run("belay", "gates", "reset", "--all")
		reset.Exits(0)
		s.Rehearse("200")
		s.Belay(nil, []string{"-p", "say hi"}).Exits(0)
	})
}

// Interactive use and the like is none of the profile's business.
func TestNotHeadless(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "200")
	r := s.Run("belay", "run", "--", "claude", "--version")
	bare := s.Run("claude", "--version")
	r.Exits(0)
	r.Prints(bare.Stdout)
	s.Asked(0)
}

// A subagent in the background outlasts the first answer. Both answers are delivered, as claude alone does.
func TestBackgroundAgent(t *testing.T) {
	t.Parallel()
	stage.InFull(t)
	s := newStage(t, "", `tool(Agent: {"description":"sub","prompt":"do it","subagent_type":"general-purpose"}), 200(after=3s, text="one"), 200(text="two"), 200(text="three")`)
	r := s.Belay(nil, []string{"-p", "say hi", "--allowedTools", "Agent"})
	r.Exits(0)
	r.Is("", 1)
	s.Asked(4)
	r.Used(40, 20)
	if strings.Count(r.Stdout, "\n") != 2 {
		t.Errorf("stdout is %q", r.Stdout)
	}
	s.NobodyLeft()
}
