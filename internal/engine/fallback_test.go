package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// Attempts of the command, whose events are scripted, and of codex as it prints them itself.
func out(class verdict.Class, hint time.Duration) enginetest.Attempt {
	return enginetest.Attempt{Code: 1, Steps: []enginetest.Step{enginetest.Wait(time.Second), enginetest.Line(enginetest.Event{Class: class, Hint: hint})}}
}

func worked(class verdict.Class, hint time.Duration) enginetest.Attempt {
	a := agent.Account{Session: oneSession, Active: true, Usage: verdict.Usage{InputTokens: 5, OutputTokens: 5, CostUSD: new(0.5)}}
	return enginetest.Attempt{Code: 1, Steps: []enginetest.Step{enginetest.Line(enginetest.Event{Class: class, Hint: hint, Account: enginetest.Account(a)})}}
}

const thread = `{"type":"thread.started","thread_id":"01a1dc8b-2e9a-7b42-ba45-231e3027132a"}` + "\n" + `{"type":"turn.started"}` + "\n"

var codexAnswers = enginetest.Attempt{Steps: []enginetest.Step{enginetest.Wait(time.Second), enginetest.Print(thread +
	`{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"Hi."}}` + "\n" +
	`{"type":"turn.completed","usage":{"input_tokens":1000,"cached_input_tokens":0,"output_tokens":100}}` + "\n")}}

func codexOut(in string) enginetest.Attempt {
	text := "You've hit your usage limit. Try again in " + in + "."
	return enginetest.Attempt{Code: 1, Steps: []enginetest.Step{enginetest.Print(thread +
		fmt.Sprintf(`{"type":"error","message":%q}`+"\n"+`{"type":"turn.failed","error":{"message":%q}}`+"\n", text, text))}}
}

// inTurn is a command that has fallbacks, and what the fallbacks' events were.
func inTurn(t *testing.T, fallbacks ...string) (r *engine.Runner, c belaytype.Command, told *[]string) {
	t.Helper()
	prompt := "Say hi."
	r, told = agentRunner(agent.Info{Gate: "claude:service:1"}), new([]string)
	for _, name := range fallbacks {
		f := engine.Fallback{}
		f.Profile, f.Model, _ = strings.Cut(name, ":")
		r.Fallbacks = append(r.Fallbacks, f)
	}
	r.Observe = func(e belaytype.Event) {
		switch e := e.(type) {
		case belaytype.FellBack:
			*told = append(*told, e.From+" to "+e.To)
		case belaytype.FallbackSkipped:
			*told = append(*told, "not "+e.Fallback+": "+e.Why)
		}
	}
	c = belaytype.Command{Args: []string{"claude", "-p"}, Prompt: &prompt, Env: []string{"HOME=" + t.TempDir(), "OPENAI_API_KEY=k"}}
	return r, c, told
}

// commands are what was started.
func commands(s *enginetest.Script) (list []string) {
	for _, start := range s.Starts() {
		list = append(list, start.Spec.Args[0])
	}
	return list
}

func TestFallback(t *testing.T) {
	const claude, codex = "claude", "codex"
	for name, test := range map[string]struct {
		attempts  []enginetest.Attempt
		with      func(*engine.Runner)
		started   []string
		answered  string // the fallback; empty if none has
		class     verdict.Class
		code      int
		took      time.Duration
		told      string // of the first event about fallbacks
		fallbacks []string
	}{
		"LimitTooLong":  {attempts: []enginetest.Attempt{out(verdict.UsageLimit, 3*time.Hour), codexAnswers}, started: []string{claude, codex}, answered: codex, took: 2 * time.Second, told: "claude to codex"},
		"LimitFits":     {attempts: []enginetest.Attempt{out(verdict.UsageLimit, time.Minute), {Steps: enginetest.Lines(enginetest.Event{Text: "Hi.", Done: true})}}, started: []string{claude, claude}},
		"NoTimeKnown":   {attempts: []enginetest.Attempt{out(verdict.UsageLimit, 0), codexAnswers}, started: []string{claude, codex}, answered: codex, told: "claude to codex"},
		"Overloaded":    {attempts: []enginetest.Attempt{out(verdict.Overloaded, 0), out(verdict.Overloaded, 0), codexAnswers}, with: func(r *engine.Runner) { r.Policy.MaxRetries = 1 }, started: []string{claude, claude, codex}, answered: codex, told: "claude to codex"},
		"WithoutRetry":  {attempts: []enginetest.Attempt{out(verdict.Overloaded, 0), codexAnswers}, with: func(r *engine.Runner) { r.Policy.MaxRetries = retry.None }, started: []string{claude, codex}, answered: codex, took: 2 * time.Second},
		"ServerError":   {attempts: []enginetest.Attempt{out(verdict.ServerError, 0)}, with: func(r *engine.Runner) { r.Policy.MaxRetries = 1 }, started: []string{claude, claude}, class: verdict.ServerError, code: 75},
		"Auth":          {attempts: []enginetest.Attempt{out(verdict.Auth, 0), codexAnswers}, started: []string{claude}, class: verdict.Auth, code: 78},
		"Billing":       {attempts: []enginetest.Attempt{out(verdict.Billing, 0), codexAnswers}, started: []string{claude}, class: verdict.Billing, code: 78},
		"NotFound":      {attempts: []enginetest.Attempt{out(verdict.NotFound, 0), codexAnswers}, started: []string{claude}, class: verdict.NotFound, code: 1},
		"WorkDone":      {attempts: []enginetest.Attempt{worked(verdict.UsageLimit, 3*time.Hour), codexAnswers}, started: []string{claude}, class: verdict.UsageLimit, code: 75, told: "not codex: claude has already worked on this request"},
		"WorkDoneOnce":  {attempts: []enginetest.Attempt{worked(verdict.Overloaded, 0), out(verdict.UsageLimit, 3*time.Hour), codexAnswers}, started: []string{claude, claude}, class: verdict.UsageLimit, code: 75, told: "not codex: claude has already worked on this request"},
		"AfterWork":     {attempts: []enginetest.Attempt{worked(verdict.UsageLimit, 3*time.Hour), codexAnswers}, with: func(r *engine.Runner) { r.FallbackAfterWork = true }, started: []string{claude, codex}, answered: codex},
		"MaxCost":       {attempts: []enginetest.Attempt{worked(verdict.RateLimit, 3*time.Hour), codexAnswers}, with: func(r *engine.Runner) { r.FallbackAfterWork, r.MaxCost = true, 0.4 }, started: []string{claude}, class: verdict.RateLimit, code: 75},
		"AllOut":        {attempts: []enginetest.Attempt{out(verdict.UsageLimit, 3*time.Hour), codexOut("9 hours")}, started: []string{claude, codex}, answered: codex, class: verdict.UsageLimit, code: 75},
		"SecondIsAuth":  {attempts: []enginetest.Attempt{out(verdict.UsageLimit, 3*time.Hour), {Code: 1, Steps: []enginetest.Step{enginetest.Print(thread + `{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized: Incorrect API key provided"}}` + "\n")}}}, fallbacks: []string{"codex", "claude:haiku"}, started: []string{claude, codex}, answered: codex, class: verdict.Auth, code: 78},
		"InOrder":       {attempts: []enginetest.Attempt{out(verdict.UsageLimit, 3*time.Hour), codexOut("9 hours"), codexAnswers}, fallbacks: []string{"codex", "codex:gpt-5"}, started: []string{claude, codex, codex}, answered: "codex:gpt-5"},
		"TotalTimeout":  {attempts: []enginetest.Attempt{out(verdict.UsageLimit, 3*time.Hour), {Steps: []enginetest.Step{enginetest.Hang()}}}, with: func(r *engine.Runner) { r.Policy.TotalTimeout = 10 * time.Second }, started: []string{claude, codex}, answered: codex, class: verdict.Timeout, code: 124, took: 10 * time.Second},
		"MaxWaitShared": {attempts: []enginetest.Attempt{out(verdict.RateLimit, 4*time.Minute), out(verdict.RateLimit, 4*time.Minute), codexOut("3 minutes")}, started: []string{claude, claude, codex}, answered: codex, class: verdict.UsageLimit, code: 75},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if test.fallbacks == nil {
					test.fallbacks = []string{"codex"}
				}
				r, c, told := inTurn(t, test.fallbacks...)
				if test.with != nil {
					test.with(r)
				}
				s := script(r, test.attempts...)
				begun := time.Now()
				result, _ := r.Run(t.Context(), c)
				if got := commands(s); !slices.Equal(got, test.started) {
					t.Errorf("%q were started, want %q", got, test.started)
				}
				if test.class == "" {
					test.class = verdict.OK
				}
				if result.Fallback != test.answered || result.Verdict.Class != test.class || result.ExitCode != test.code || result.Attempts != len(test.started) {
					t.Errorf("%+v", result)
				}
				if took := time.Since(begun); test.took > 0 && took.Round(time.Second) != test.took {
					t.Errorf("it took %v", took)
				}
				if test.told != "" && (len(*told) == 0 || (*told)[0] != test.told) {
					t.Errorf("told %q", *told)
				}
			})
		})
	}
}

// The prompt, what came on stdin, and what was used are those of the whole run.
func TestFallback_GetsTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c, _ := inTurn(t, "codex:gpt-5")
		r.FallbackAfterWork = true
		r.Profile.(*enginetest.Agent).Asks = agent.Request{Prompt: "Sum up.", AllowAll: true, NoSession: true, Dir: "/there"}
		var said strings.Builder
		echo := codexAnswers
		echo.Steps = append([]enginetest.Step{enginetest.Read(true)}, echo.Steps...)
		s := script(r, worked(verdict.UsageLimit, 3*time.Hour), echo)
		c.Stdout, c.Stdin = &said, strings.NewReader("pears and plums")
		result, err := r.Run(t.Context(), c)
		if err != nil || result.Profile != "codex" {
			t.Fatalf("%+v, %v", result, err)
		}
		start := s.Starts()[1].Spec
		if want := []string{"codex", "exec", "--json", "--skip-git-repo-check", "--model", "gpt-5", "--dangerously-bypass-approvals-and-sandbox", "--ephemeral"}; !slices.Equal(start.Args, want) || start.Dir != "/there" {
			t.Errorf("%q in %s", start.Args, start.Dir)
		}
		if !strings.Contains(said.String(), "Sum up.\n\nSay hi.\n\n<stdin>\npears and plums\n</stdin>") {
			t.Errorf("codex has read %q", said.String())
		}
		if u := result.Usage; u.InputTokens != 1005 || u.OutputTokens != 105 || u.CostUSD == nil || *u.CostUSD < 0.502 || *u.CostUSD > 0.503 || !u.Estimated {
			t.Errorf("%+v", u)
		}
	})
}

// While the gate of the first is closed, its fallback is asked at once; when it is open again, the first.
func TestFallback_WhileTheGateIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c, _ := inTurn(t, "codex")
		ok := enginetest.Attempt{Steps: enginetest.Lines(enginetest.Event{Text: "Hi.", Done: true})}
		s := script(r, out(verdict.UsageLimit, 3*time.Hour), codexAnswers, codexAnswers, codexAnswers, ok)
		for range 3 {
			if result, err := r.Run(t.Context(), c); err != nil || result.Fallback != "codex" {
				t.Fatalf("%+v, %v", result, err)
			}
		}
		time.Sleep(3 * time.Hour)
		if result, err := r.Run(t.Context(), c); err != nil || result.Fallback != "" || result.Attempts != 1 {
			t.Errorf("%+v, %v", result, err)
		}
		if got := commands(s); !slices.Equal(got, []string{"claude", "codex", "codex", "codex", "claude"}) {
			t.Errorf("%q were started", got)
		}
	})
}

// All are out: the time is that of the first that is free again, also when no gate lets anything start.
func TestFallback_EarliestReset(t *testing.T) {
	for name, resets := range map[string][2]time.Duration{"First": {3 * time.Hour, 9 * time.Hour}, "Last": {9 * time.Hour, 3 * time.Hour}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, c, _ := inTurn(t, "codex")
				s := script(r, out(verdict.UsageLimit, resets[0]), codexOut(fmt.Sprintf("%d hours", int(resets[1].Hours()))))
				for range 2 {
					result, err := r.Run(t.Context(), c)
					if want := time.Now().Add(3 * time.Hour); err == nil || result.ExitCode != 75 || result.RetryAt.Sub(want).Abs() > 10*time.Second {
						t.Errorf("exit code %d, again at %v: %v", result.ExitCode, time.Until(result.RetryAt), err)
					}
				}
				if n := len(s.Starts()); n != 2 {
					t.Errorf("%d starts", n)
				}
			})
		})
	}
}

// An interruption while the fallback works is the end.
func TestFallback_Interrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c, _ := inTurn(t, "codex", "claude:haiku")
		script(r, out(verdict.UsageLimit, 3*time.Hour), enginetest.Attempt{Steps: []enginetest.Step{enginetest.Hang()}})
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(&belaytype.Interrupt{Signal: 2, Name: "SIGINT"}) })
		result, _ := r.Run(ctx, c)
		if result.ExitCode != 130 || result.Verdict.Class != verdict.Interrupted || result.Fallback != "codex" {
			t.Errorf("%+v", result)
		}
	})
}

// What cannot be given to another agent is refused before anything starts; where the fallback is only a standing wish, it is left out.
func TestFallback_Refused(t *testing.T) {
	for name, test := range map[string]struct {
		fallback engine.Fallback
		facts    agent.Info
		asks     agent.Request
		resume   string
		stdout   bool
		says     string
	}{
		"Unknown":      {fallback: engine.Fallback{Profile: "codx"}, says: `there is no agent "codx"`},
		"NoAgent":      {fallback: engine.Fallback{Profile: "gh"}, says: `there is no agent "gh"`},
		"Option":       {fallback: engine.Fallback{Profile: "codex"}, asks: agent.Request{Own: "--disallowedTools"}, says: "claude's --disallowedTools has no exact equivalent in codex"},
		"NoEquivalent": {fallback: engine.Fallback{Profile: "gemini"}, asks: agent.Request{AllowAll: true}, says: "claude's --dangerously-skip-permissions has no exact equivalent in gemini"},
		"MayMore":      {fallback: engine.Fallback{Profile: "opencode"}, says: "by default opencode changes files and runs commands without permission"},
		"Itself":       {fallback: engine.Fallback{Profile: "claude"}, says: "it is the command itself; name another model"},
		"Conversation": {fallback: engine.Fallback{Profile: "codex"}, facts: agent.Info{Once: true}, says: "only a single request"},
		"Resumes":      {fallback: engine.Fallback{Profile: "codex"}, facts: agent.Info{GoesOn: true}, says: "a session can only be continued by the agent"},
		"Resume":       {fallback: engine.Fallback{Profile: "codex"}, resume: oneSession, says: "a session can only be continued by the agent"},
		"Form":         {fallback: engine.Fallback{Profile: "codex"}, facts: agent.Info{Form: agent.JSON}, stdout: true, says: "codex cannot print its answer in the format that claude was asked for"},
		"Arguments":    {fallback: engine.Fallback{Profile: "codex", Args: []string{"--help"}}, says: "with the arguments given for it, codex does not work on a request"},

		"OwnForm":   {fallback: engine.Fallback{Profile: "codex"}, facts: agent.Info{Form: agent.JSON}},
		"OwnArgs":   {fallback: engine.Fallback{Profile: "codex", Args: []string{"--sandbox", "read-only"}}, asks: agent.Request{Own: "--disallowedTools"}},
		"NoArgs":    {fallback: engine.Fallback{Profile: "opencode", Args: []string{}}},
		"SameModel": {fallback: engine.Fallback{Profile: "claude", Model: "haiku"}, facts: agent.Info{Form: agent.JSON}, asks: agent.Request{Own: "--disallowedTools"}, stdout: true},
	} {
		t.Run(name, func(t *testing.T) {
			r, c, _ := inTurn(t)
			r.Profile = &enginetest.Agent{Facts: test.facts, Asks: test.asks}
			r.Fallbacks, r.Resume.Session = []engine.Fallback{test.fallback}, test.resume
			s := script(r, enginetest.Attempt{Steps: enginetest.Lines(enginetest.Event{Text: "Hi.", Done: true})})
			if test.stdout {
				c.Stdout = &strings.Builder{}
			}
			_, err := r.Run(t.Context(), c)
			refused, is := errors.AsType[*belaytype.FallbackRefused](err)
			if is != (test.says != "") || is && !strings.Contains(refused.Why, test.says) || is && len(s.Starts()) > 0 {
				t.Errorf("%v after %d starts", err, len(s.Starts()))
			}
			r.Fallbacks[0].Optional = true
			c.Prompt = new("again")
			if _, err := r.Run(t.Context(), c); err != nil && !strings.HasPrefix(test.says, "there is no agent") {
				t.Errorf("a standing wish: %v", err)
			}
		})
	}
}

// A prompt that the fallback does not take is not given to it; the run ends as without it.
func TestFallback_PromptTooLong(t *testing.T) {
	r, c, told := inTurn(t, "codex")
	reads := worked(verdict.UsageLimit, 3*time.Hour)
	reads.Steps = append([]enginetest.Step{enginetest.Read(false)}, reads.Steps...)
	s := script(r, reads, codexAnswers)
	r.FallbackAfterWork = true
	c.Prompt = new(strings.Repeat("x", 1<<20+1))
	result, _ := r.Run(t.Context(), c)
	if result.ExitCode != 75 || len(s.Starts()) != 1 || len(*told) != 1 || !strings.HasPrefix((*told)[0], "not codex: codex takes a prompt of at most") {
		t.Errorf("%+v, %q", result, *told)
	}
}
