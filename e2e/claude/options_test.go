//go:build linux

package claude_test

import (
	"strings"
	"testing"
)

// What is wrong is said in one line, before anything starts.
func TestWrong(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "200")
	for _, flags := range []string{"--profile cloud", "--resume not-an-id", "--resume-or-new ../../x", "--max-cost much", "--max-cost -1", "--stall-timeout soon",
		"--resume last --resume-or-new last", "--prompt a --prompt-file b", "--prompt-file /nonexistent/prompt"} {
		r := s.belay(strings.Fields(flags), []string{"-p", "hi"})
		if r.code != 2 || strings.Count(r.stderr, "\n") > 2 || r.stderr == "" || r.stdout != "" {
			t.Errorf("%s: exit code %d\n%s", flags, r.code, r.stderr)
		}
	}
	s.asked(0)
}

// --max-cost stops further attempts once it is spent.
func TestMaxCost(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		script := "tool(bash: `true`, in=100000, out=1000), 500(x-should-retry=false)x*"
		s := newStage(t, version, script)
		s.env = []string{"CLAUDE_CODE_MAX_RETRIES=0"}
		r := s.belay([]string{"--base-delay", "100ms", "--max-cost", "0.0001"}, []string{"-p", "say hi", "--allowedTools", "Bash"})
		r.is("server_error", 1)
		r.exits(75)
		r.says("--max-cost is used up")
		s.asked(2)
		s.rehearse(script)
		r = s.belay([]string{"--base-delay", "100ms", "--max-cost", "100", "--max-retries", "1"}, []string{"-p", "say hi", "--allowedTools", "Bash"})
		r.is("server_error", 2)
		s.asked(3)
	}, "2.0.77")
}

// What the command line allows the whole run is not multiplied by resuming.
func TestMaxTurns_NotMultiplied(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "tool(bash: `true`)x2, 500(x-should-retry=false), tool(bash: `true`)x*")
		s.env = []string{"CLAUDE_CODE_MAX_RETRIES=0"}
		r := s.belay([]string{"--base-delay", "100ms"}, []string{"-p", "say hi", "--allowedTools", "Bash", "--max-turns", "4"})
		r.exits(1)
		if r.result.ErrorType != "limit_reached" || r.result.Attempts > 2 {
			t.Errorf("%+v", r.result)
		}
		if n := s.requests(); n > 5 { // four turns, and the one that failed
			t.Errorf("%d requests", n)
		}
	}, "2.0.77")
}

// A gate that was learned by one run is there for the next, which does not ask in vain.
func TestGate_NextRunWaits(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "usage-limit(resets=1h)x*")
		first := s.belay(nil, []string{"-p", "say hi"})
		first.exits(75)
		n := s.requests()
		second := s.belay(nil, []string{"-p", "say hi"})
		second.exits(75)
		second.says("gate claude:", "belay gates reset")
		if second.result.RetryAt != first.result.RetryAt || second.result.Attempts != 0 {
			t.Errorf("%+v after %+v", second.result, first.result)
		}
		s.asked(n)
		s.belay([]string{"--no-gate"}, []string{"-p", "say hi"}).exits(75)
		if s.requests() == n {
			t.Error("--no-gate has not asked")
		}
		reset := s.start(s.command("belay", "gates", "reset", "--all"), nil).wait()
		reset.exits(0)
		s.rehearse("200")
		s.belay(nil, []string{"-p", "say hi"}).exits(0)
	})
}

// Interactive use and the like is none of the profile's business.
func TestNotHeadless(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "200")
	r := s.start(s.command("belay", "run", "--", "claude", "--version"), nil).wait()
	bare := s.start(s.command("claude", "--version"), nil).wait()
	r.exits(0)
	r.prints(bare.stdout)
	s.asked(0)
}

// A subagent in the background outlasts the first answer. Both answers are delivered, as claude alone does.
func TestBackgroundAgent(t *testing.T) {
	t.Parallel()
	if !full {
		t.Skip("only with BELAY_TEST_FULL=1")
	}
	s := newStage(t, "", `tool(Agent: {"description":"sub","prompt":"do it","subagent_type":"general-purpose"}), 200(after=3s, text="one"), 200(text="two"), 200(text="three")`)
	r := s.belay(nil, []string{"-p", "say hi", "--allowedTools", "Agent"})
	r.exits(0)
	r.is("", 1)
	s.asked(4)
	r.used(40, 20)
	if strings.Count(r.stdout, "\n") != 2 {
		t.Errorf("stdout is %q", r.stdout)
	}
	s.nobodyLeft()
}
