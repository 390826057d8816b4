//go:build linux

package agents_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/test/must"
)

// fallbackStage is a stage with claude, on which the other agents are found too.
func fallbackStage(t *testing.T, script string) *stage.Stage {
	t.Helper()
	s := claude.New(t, "", script)
	path := []string{stage.Bin("."), filepath.Dir(s.Agent)}
	for _, other := range []*agent{codex, gemini, opencode} {
		path = append(path, filepath.Dir(clitest.Find(t, other.Descriptor, "")))
	}
	s.Env = append(s.Env, "PATH="+strings.Join(append(path, os.Getenv("PATH")), ":"))
	return s
}

// asked is how many requests each stand-in has seen that are part of the work, by its name.
func asked(s *stage.Stage) map[string]int {
	n := map[string]int{}
	for _, q := range s.API.Main() {
		n[q.API]++
	}
	return n
}

// outThenAnswer is a script: claude has used up its plan, and the next agent answers.
const outThenAnswer = "usage-limit(resets=3h), 200(in=1000, out=100)x*"

// Claude is out of its usage limit: codex answers, in the same run, and the next run asks codex at once. When the limit is reset, claude
// is asked again.
func TestFallback_UsageLimit(t *testing.T) {
	t.Parallel()
	s := fallbackStage(t, outThenAnswer)
	offset := filepath.Join(s.Dir, "offset")
	s.Env = append(s.Env, "BELAY_TEST_CLOCK="+offset)
	belay := filepath.Join(s.Dir, "belay")
	must.OK(t, (built.Program{Package: "cmd/belay", Clock: true}).As(belay))
	run := func(more ...string) *stage.Ran {
		t.Helper()
		cmd := s.Command("belay", slices.Concat([]string{"run", "--fallback", "codex:gpt-5"}, more, []string{"--", "claude", "-p", "--model", "opus", "say hi"})...)
		cmd.Path = belay
		return s.Start(cmd, nil).Wait()
	}

	first := run("--result-file", "first.json")
	first.Exits(0)
	first.Prints(answer)
	first.Says("claude hit its usage limit, which resets at ", ". Falling back to codex:gpt-5")
	result, _ := os.ReadFile(filepath.Join(s.Work, "first.json"))
	for _, want := range []string{`"success":true`, `"fallback":"codex:gpt-5"`, `"profile":"codex"`, `"attempts":2`, `"estimated":true`, `"error":null`} {
		if !strings.Contains(string(result), want) {
			t.Errorf("the result has no %s: %s", want, result)
		}
	}
	if n := asked(s); n["anthropic"] != 1 || n["openai"] != 1 {
		t.Errorf("asked: %v", n)
	}
	if told := s.LastTold(); stage.Count(told, "say hi") != 1 {
		t.Errorf("codex was told %q", told)
	}
	if model := s.API.Main()[1].Model; model != "gpt-5" {
		t.Errorf("codex has used %q", model)
	}
	log := s.Log()
	if len(log) != 2 || log[0].Profile != "claude" || log[0].Fallback != "" || log[0].Status != journal.Retry ||
		log[1].Profile != "codex" || log[1].Fallback != "codex:gpt-5" || log[1].Status != journal.Success || log[1].Attempt != 2 ||
		log[0].Invocation != log[1].Invocation || log[0].PromptHash != log[1].PromptHash || log[0].Gate == log[1].Gate {
		t.Errorf("on record: %+v", log)
	}

	second := run()
	second.Exits(0)
	second.Prints(answer)
	if n := asked(s); n["anthropic"] != 1 || n["openai"] != 2 {
		t.Errorf("before the reset: %v", n)
	}

	must.OK(t, os.WriteFile(offset, []byte("3h5m\n"), 0o600))
	third := run()
	third.Exits(0)
	third.Prints(answer)
	if n := asked(s); n["anthropic"] != 2 || n["openai"] != 2 || strings.Contains(third.Stderr, "alling back") {
		t.Errorf("after the reset: %v, %s", n, third.Stderr)
	}
}

// Cost is the cost of all agents together.
func TestFallback_CountsAllCost(t *testing.T) {
	t.Parallel()
	s := fallbackStage(t, `tool(bash: "true", in=1000, out=100), usage-limit(resets=3h), 200(in=1000, out=100)x*`)
	s.File("../config/belay/config.toml", "[fallback.codex]\nargs = []\n[profile.codex]\nbudget = \"night=5/day\"\n")
	r := s.Belay([]string{"--fallback", "codex:gpt-5", "--fallback-after-work", "--max-cost", "5"}, claude.work("--model", "opus", "say hi"))
	r.Exits(0)
	r.Is("", 2)
	r.Used(2000, 200)
	log := s.Log()
	if len(log) != 2 || r.Result.Usage.Cost == nil || !r.Result.Usage.Estimated {
		t.Fatalf("%+v, %+v", r.Result, log)
	}
	if out := s.Run("belay", "budget", "--json").Stdout; !strings.Contains(out, `"night"`) || strings.Contains(out, `"spent":0,`) {
		t.Errorf("the budget of codex: %s", out)
	}
	codexCost := 1000*1.25e-6 + 100*10e-6 // the list's price of gpt-5
	if sum := *r.Result.Usage.Cost; sum < codexCost+0.001 || math.IsNaN(sum) {
		t.Errorf("both have cost $%g, codex alone $%g", sum, codexCost)
	}
}

// What another agent could not be told, or would do again, is not given to it.
func TestFallback_NotTried(t *testing.T) {
	t.Parallel()
	const after = ", 200x*"
	for name, test := range map[string]struct {
		script      string
		flags, args []string
		code        int
		says        string
		asked       int // of claude
	}{
		"Auth":     {"401x*", nil, claude.ask("hi"), 78, "", -1},
		"Tools":    {"usage-limit" + after, nil, claude.ask("hi", "--disallowedTools", "Bash"), 2, "codex cannot be used as a fallback: claude's --disallowedTools has no exact equivalent in codex", 0},
		"Unknown":  {"usage-limit" + after, nil, claude.ask("hi", "--no-such-option"), 2, "claude's --no-such-option has no exact equivalent in codex", 0},
		"Format":   {"usage-limit" + after, nil, claude.ask("hi", "--output-format", "json"), 2, "codex cannot print its answer in the format that claude was asked for", 0},
		"Session":  {"usage-limit" + after, []string{"--resume", "00000000-0000-4000-8000-000000000000"}, claude.ask("hi"), 2, "a session can only be continued by the agent that it belongs to", 0},
		"Command":  {"usage-limit" + after, nil, claude.ask("/review 12"), 2, "claude's /review has no exact equivalent in codex", 0},
		"WorkDone": {"tool(bash: true), usage-limit" + after, nil, claude.ask("hi"), 75, "not falling back to codex: claude has already worked on this request (--fallback-after-work repeats its work)", 2},
		"MaxCost":  {`tool(bash: "true", in=1000000, out=1000)` + after, []string{"--max-cost", "0.5"}, claude.ask("hi"), 1, "--max-cost", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "Auth" || name == "MaxCost" || name == "WorkDone" {
				stage.InFull(t) // every day TestFallback (internal/engine) has them
			}
			s := fallbackStage(t, test.script)
			r := s.Belay(slices.Concat([]string{"--fallback", "codex"}, test.flags), test.args)
			r.Exits(test.code)
			r.Says(test.says)
			if n := asked(s); n["openai"] != 0 || test.asked >= 0 && n["anthropic"] != test.asked {
				t.Errorf("asked: %v", n)
			}
		})
	}
}

// Everybody is out: the run says when the first of them is free again. Every day TestFallback_EarliestReset (internal/engine) has it.
func TestFallback_AllOut(t *testing.T) {
	stage.InFull(t)
	t.Parallel()
	s := fallbackStage(t, "usage-limit(resets=3h), usage-limit(resets=9h)x*")
	r := s.Belay([]string{"--fallback", "codex"}, claude.ask("hi"))
	r.Exits(75)
	r.Is("usage_limit", 2)
	r.Says("Falling back to codex", "codex hit its usage limit", "Claude is available again at ")
	at, err := time.Parse(time.RFC3339, r.Result.RetryAt)
	if want := s.API.Main()[0].At.Add(3 * time.Hour); err != nil || at.Sub(want).Abs() > time.Minute {
		t.Errorf("to be tried again at %q, claude's limit resets at %v", r.Result.RetryAt, want.UTC())
	}
	if len(r.Result.Errors) != 2 {
		t.Errorf("%q", r.Result.Errors)
	}
}

// The prompt may come on stdin, and from belay: the other agent gets all of it.
func TestFallback_Prompts(t *testing.T) {
	stage.InFull(t)
	t.Parallel()
	for _, other := range []*agent{codex, gemini, opencode} {
		t.Run(other.Name, func(t *testing.T) {
			t.Parallel()
			s := fallbackStage(t, outThenAnswer)
			s.File("../config/belay/config.toml", "[fallback.opencode]\nargs = []\n")
			r := s.StartBelay([]string{"--fallback", other.Name}, claude.ask("sum this up"), strings.NewReader("pears and plums")).Wait()
			r.Exits(0)
			r.Prints(answer)
			s.ToldOnce("sum this up", "pears and plums")
		})
	}
}

// One model of claude's is out, another answers, with all that the command line says.
func TestFallback_Model(t *testing.T) {
	stage.InFull(t)
	t.Parallel()
	s := fallbackStage(t, "overloaded, 200x*")
	s.Env = append(s.Env, "CLAUDE_CODE_MAX_RETRIES=0")
	r := s.Belay([]string{"--fallback", "claude:sonnet", "--max-retries", "0"}, claude.ask("--model", "opus", "hi", "--output-format", "json", "--disallowedTools", "Bash"))
	r.Exits(0)
	if r.Result.Fallback != "claude:sonnet" || !strings.Contains(r.Stdout, `"type":"result"`) {
		t.Errorf("%+v", r.Result)
	}
	all := s.API.Main()
	if first, last := all[0].Model, all[len(all)-1].Model; !strings.Contains(first, "opus") || !strings.Contains(last, "sonnet") {
		t.Errorf("%s was asked first, %s last", first, last)
	}
}

// A limit of the account is one for all of its models: no other is asked, now and in the next run.
func TestFallback_AccountLimit(t *testing.T) {
	stage.InFull(t)
	t.Parallel()
	s := fallbackStage(t, "usage-limit(resets=3h)x*")
	for range 2 {
		r := s.Belay([]string{"--fallback", "claude:sonnet"}, claude.ask("--model", "opus", "hi"))
		r.Exits(75)
		s.Asked(1)
	}
}

// Ctrl-C while the fallback works ends it, as it does any agent; a killed belay leaves nothing of it.
func TestFallback_Stopped(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGKILL": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if signal == syscall.SIGKILL {
				stage.InFull(t)
			}
			s := fallbackStage(t, "usage-limit(resets=3h), hang x*")
			run := s.StartBelay([]string{"--fallback", "codex"}, claude.ask("hi"), nil)
			s.Eventually("codex asks", func() bool { return asked(s)["openai"] > 0 })
			ps := s.Run("belay", "ps", "--json").Stdout
			if !strings.Contains(ps, `"codex"`) {
				t.Errorf("belay ps: %s", ps)
			}
			run.Signal(signal)
			r := run.Wait()
			if signal == syscall.SIGKILL {
				r.Exits(137)
				s.Run("belay", "ps", "--reap").Exits(0)
				s.NobodyLeft()
				log := s.Log()
				if last := log[len(log)-1]; last.Profile != "codex" {
					t.Errorf("on record: %+v", last)
				}
				return
			}
			r.Exits(130)
			r.Is("interrupted", 2)
		})
	}
}
