package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// said is an event as it is printed.
func said(e enginetest.Event) string {
	var out bytes.Buffer
	r := &engine.Runner{Starter: &enginetest.Script{Attempts: []enginetest.Attempt{{Steps: []enginetest.Step{enginetest.Line(e)}}}}}
	r.Run(context.Background(), belaytype.Command{Args: []string{"tool"}, Stdout: &out})
	return out.String()
}

// What the caller sees of an agent: the answer alone, or events, with what something else has printed in between.
func TestEventLog_Forms(t *testing.T) {
	hello, hint, done := enginetest.Event{Session: oneSession}, enginetest.Event{Show: agent.Drop, Answered: true}, enginetest.Event{Text: "It is done.", Done: true, Class: verdict.OK}
	list := []enginetest.Step{enginetest.Print("npm notice\n"), enginetest.Line(hello), enginetest.Line(hint), enginetest.Line(done), enginetest.Print("npm goes\n")}
	for name, tt := range map[string]struct {
		traits agent.Info
		want   string
	}{
		"text":   {agent.Info{Form: agent.Text}, "npm notice\nIt is done.\nnpm goes\n"},
		"json":   {agent.Info{Form: agent.JSON}, "npm notice\nIt is done.\nnpm goes\n"},
		"stream": {agent.Info{Form: agent.Stream}, "npm notice\n" + said(hello) + said(done) + "npm goes\n"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := agentRunner(tt.traits)
				script(r, steps(0, list...))
				var out bytes.Buffer
				c := claude
				c.Stdout = &out
				res, err := r.Run(t.Context(), c)
				if err != nil || out.String() != tt.want || res.Output.String() != "It is done." {
					t.Errorf("printed %q, result %q, %v", &out, res.Output, err)
				}
			})
		})
	}
}

// Events are passed on once the model has answered: until then an attempt can be taken back. Bad news is held until it is
// known to be final.
func TestEventLog_HoldsUntilTheModelAnswers(t *testing.T) {
	begun, answer := enginetest.Event{Session: oneSession}, enginetest.Event{Text: "Working on it."}
	failed := enginetest.Event{Show: agent.Hold, Class: verdict.Overloaded, Account: enginetest.Account(agent.Account{Session: oneSession})}
	done := enginetest.Event{Text: "done", Done: true, Class: verdict.OK}
	for name, tt := range map[string]struct {
		retries  int
		attempts [][]enginetest.Event
		want     []enginetest.Event
	}{
		"nothing of an attempt that comes to nothing": {3, [][]enginetest.Event{{begun, failed}, {begun, done}}, []enginetest.Event{begun, done}},
		"what was passed on stays":                    {3, [][]enginetest.Event{{begun, answer, failed}, {begun, done}}, []enginetest.Event{begun, answer, begun, done}},
		"bad news, if it is final":                    {retry.None, [][]enginetest.Event{{begun, answer, failed}}, []enginetest.Event{begun, answer, failed}},
		"bad news, if it is all":                      {retry.None, [][]enginetest.Event{{begun, failed}}, []enginetest.Event{begun, failed}},
		"bad news, before what comes after":           {retry.None, [][]enginetest.Event{{answer, failed, done}}, []enginetest.Event{answer, failed, done}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := agentRunner(agent.Info{Form: agent.Stream})
				r.Policy.MaxRetries = tt.retries
				s := &enginetest.Script{}
				for _, events := range tt.attempts {
					s.Attempts = append(s.Attempts, steps(0, enginetest.Lines(events...)...))
				}
				r.Starter = s
				var out bytes.Buffer
				c := claude
				c.Stdout = &out
				r.Run(t.Context(), c)
				want := ""
				for _, e := range tt.want {
					want += said(e)
				}
				equal(t, "printed", out.String(), want)
			})
		})
	}
}

// In a text form, an attempt that was stopped while it kept trying has nothing to say.
func TestEventLog_StoppedEarlyPrintsNothing(t *testing.T) {
	for form, want := range map[agent.Form]string{agent.Text: "", agent.JSON: "Half a thought\n"} {
		synctest.Test(t, func(t *testing.T) {
			r := agentRunner(agent.Info{Form: form})
			script(r, steps(0, enginetest.Line(enginetest.Event{Text: "Half a thought"}), enginetest.Line(enginetest.Event{Retry: verdict.Auth, Hopeless: true}), enginetest.Hang()))
			var out bytes.Buffer
			c := claude
			c.Stdout = &out
			res, err := r.Run(t.Context(), c)
			if err == nil || res.ExitCode != engine.CodePersonMustAct || res.ChildCode != 1 || out.String() != want {
				t.Errorf("exit code %d, printed %q: %v", res.ExitCode, &out, err)
			}
			contains(t, res.Error, "stopped claude: its key was rejected (HTTP error), retrying cannot help")
		})
	}
}

// A CLI that prints its answer and nothing else is read as text.
func TestEventLog_Plain(t *testing.T) {
	for name, text := range map[string]string{"short": "It is done.\n", "without an end": "It is done.", "long": large, "one long line": strings.Repeat("x", 1_100_000) + "\n", "nothing": ""} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, seen := range []bool{true, false} {
					r := agentRunner(agent.Info{})
					r.Profile.(*enginetest.Agent).Plans = func(agent.Turn) agent.Plan { return agent.Plan{Args: []string{"claude"}, Plain: true} }
					script(r, steps(0, enginetest.Print(text[:len(text)/2]), enginetest.Print(text[len(text)/2:])))
					var out bytes.Buffer
					c := claude
					if seen {
						c.Stdout = &out
					}
					res, err := r.Run(t.Context(), c)
					if err != nil || seen && out.String() != text || res.Output.String() != strings.TrimSuffix(text, "\n") {
						t.Errorf("printed %d bytes, result %d of %d, %v", out.Len(), res.Output.Size(), len(text), err)
					}
				}
			})
		})
	}
}

// Lines and answers above 1 MiB come whole: as the result, on stdout, and to readers of events.
func TestEventLog_LongLines(t *testing.T) {
	answer := strings.Repeat("All work and no play. ", 50_000) // 1.1 MB
	done := enginetest.Event{Text: answer, Done: true, Class: verdict.OK}
	printed, longForeign := said(done), strings.Repeat("y", 1_100_000)+"\n"
	for name, tt := range map[string]struct {
		form agent.Form
		want string
	}{
		"text":   {agent.Text, longForeign + answer + "\n"},
		"stream": {agent.Stream, longForeign + printed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := agentRunner(agent.Info{Form: tt.form})
				script(r, steps(1, enginetest.Line(enginetest.Event{Text: answer, Class: verdict.Overloaded, Show: agent.Hold})),
					steps(0, enginetest.Print(longForeign), enginetest.Line(done)))
				var out bytes.Buffer
				c := claude
				c.Stdout = &out
				inv := start(t, r, c)
				lines := 0
				for e := range inv.Events() {
					if line, ok := e.(belaytype.AgentEvent); ok && line.Attempt == 2 {
						if lines++; lines == 2 && string(line.Line)+"\n" != printed {
							t.Errorf("the reader has %d bytes", len(line.Line))
						}
					}
				}
				res, err := inv.Wait()
				if err != nil || res.Output.String() != answer || out.String() != tt.want || lines != 2 {
					t.Errorf("result %d bytes, printed %d of %d, %d lines, %v", res.Output.Size(), out.Len(), len(tt.want), lines, err)
				}
			})
		})
	}
}

// A CLI that goes on although its output is not read any more is stopped: it would cost more.
func TestEventLog_ReaderGoesAway(t *testing.T) {
	for name, room := range map[string]int{"at the first line": 0, "at the second": len(said(enginetest.Event{Text: "one"}))} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := agentRunner(agent.Info{Form: agent.Stream})
				s := script(r, steps(0, enginetest.Unmoved(enginetest.Line(enginetest.Event{Text: "one"})), enginetest.Wait(time.Second),
					enginetest.Unmoved(enginetest.Line(enginetest.Event{Text: "two"})), enginetest.Hang()))
				c := claude
				c.Stdout = &closedWriter{room: room}
				res, err := r.Run(t.Context(), c)
				if err == nil || len(s.Starts()) != 1 || res.ExitCode != 128+int(syscall.SIGPIPE) || res.Verdict.Rule != "unread" || res.Verdict.Class != verdict.Interrupted {
					t.Errorf("exit code %d, %+v after %d starts", res.ExitCode, res.Verdict, len(s.Starts()))
				}
				equal(t, "error", res.Error, "stopped claude: its output is no longer read")
			})
		})
	}
	t.Run("AndEndsIt", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := agentRunner(agent.Info{Form: agent.Stream})
			s := script(r, steps(0, enginetest.Line(enginetest.Event{Text: "one"}), enginetest.Hang()))
			c := claude
			c.Stdout = &closedWriter{}
			if res, err := r.Run(t.Context(), c); err == nil || len(s.Starts()) != 1 || res.ExitCode != 128+int(syscall.SIGPIPE) {
				t.Errorf("exit code %d after %d starts: %v", res.ExitCode, len(s.Starts()), err)
			}
		})
	})
	t.Run("AtTheEnd", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			for _, list := range [][]enginetest.Step{{enginetest.Line(enginetest.Event{Text: "one"})}, {enginetest.Print("notice\n")}} {
				r := agentRunner(agent.Info{})
				script(r, steps(0, list...))
				c := claude
				c.Stdout = &closedWriter{}
				res, err := r.Run(t.Context(), c)
				if err == nil || res.ExitCode != 128+int(syscall.SIGPIPE) || res.Success {
					t.Errorf("exit code %d: %v", res.ExitCode, err)
				}
				contains(t, res.Error, "cannot write the output")
			}
		})
	})
}

// The caller's own rules see what an agent prints, and may overrule the profile.
func TestEventLog_JudgeOverrules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := agentRunner(agent.Info{})
		seen := ""
		r.Judge = func(own verdict.Verdict, o verdict.Outcome, _ time.Time) verdict.Verdict {
			seen = o.Stdout.Text()
			own.Class, own.Rule = verdict.Refused, "mine"
			return own
		}
		script(r, steps(0, enginetest.Line(enginetest.Event{Session: oneSession, Text: "I cannot do that.", Class: verdict.OK})))
		res, err := r.Run(t.Context(), claude)
		if err == nil || res.Verdict.Class != verdict.Refused || res.Session != oneSession || res.Verdict.SessionID != oneSession {
			t.Errorf("%+v, %v", res.Verdict, err)
		}
		contains(t, seen, "I cannot do that.")
	})
}

// An agent that fails without a word on stdout or stderr leaves it to others to say why.
func TestEventLog_Silent(t *testing.T) {
	event := enginetest.Event{Class: verdict.Auth, Show: agent.Drop, Account: enginetest.Account(agent.Account{})}
	for name, tt := range map[string]struct {
		stderr string
		text   string
		silent bool
	}{
		"no word at all":          {silent: true},
		"something else":          {stderr: "npm notice\n", text: "key is wrong", silent: true},
		"the same on stderr":      {stderr: "error: key is wrong\n", text: "key is wrong"},
		"the same on its stdout":  {text: "key is wrong"},
		"nothing, and no reason":  {silent: true},
		"nothing of what matters": {stderr: "key\n", silent: true, text: "key is wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := agentRunner(agent.Info{Form: agent.Stream})
				one := event
				one.Text = tt.text
				if name == "the same on its stdout" {
					one.Show = agent.Pass
				}
				script(r, steps(1, enginetest.Complain(tt.stderr), enginetest.Line(one)))
				var out bytes.Buffer
				c := claude
				c.Stdout = &out
				res, _ := r.Run(t.Context(), c)
				equal(t, "silent", res.Silent, tt.silent)
			})
		})
	}
}

// Retries inside the CLI count as ours, and their waits too.
func TestEventLog_InnerRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := agentRunner(agent.Info{Gate: "claude:host"})
		r.State, r.LogDir = runner(t, retry.Policy{}).State, engine.NoLogDir
		w := observe(r)
		again := enginetest.Line(enginetest.Event{Retry: verdict.Overloaded, Wait: 2 * time.Second})
		script(r, steps(0, again, enginetest.Wait(2*time.Second), again, enginetest.Wait(2*time.Second), enginetest.Line(enginetest.Event{Text: "done", Class: verdict.OK})))
		res, err := r.Run(t.Context(), claude)
		if err != nil || res.Waited != 4*time.Second || res.Attempts != 1 {
			t.Errorf("waited %v: %v", res.Waited, err)
		}
		retries := all[belaytype.InnerRetry](w)
		if len(retries) != 2 || retries[0].Ended || retries[0].Wait != 2*time.Second || retries[0].Attempt != 1 || retries[0].Verdict.Class != verdict.Overloaded {
			t.Errorf("told %+v", retries)
		}
		if log := entries(t, r); log[0].InnerRetries != 2 || log[0].InnerWait != 4 || log[0].WaitTime != 4 || log[0].FirstToken != 4 {
			t.Errorf("on record: %+v", log[0])
		}
	})
}

func TestEventLog_InnerRetriesEnd(t *testing.T) {
	counted := retry.Policy{MaxRetries: 1, CountThrottles: true}
	again := func(e enginetest.Event) []enginetest.Step {
		return []enginetest.Step{enginetest.Line(e), enginetest.Wait(e.Wait)}
	}
	var forever []enginetest.Step
	for range 100 {
		forever = append(forever, again(enginetest.Event{Retry: verdict.Overloaded, Wait: 10 * time.Second})...)
	}
	var throttled []enginetest.Step
	for range 100 {
		throttled = append(throttled, again(enginetest.Event{Retry: verdict.RateLimit, Wait: time.Minute})...)
	}
	for name, tt := range map[string]struct {
		policy retry.Policy
		steps  []enginetest.Step
		took   time.Duration
		class  verdict.Class
		cause  error
		code   int
		text   string
	}{
		"by the number that was given": {policy: counted, steps: forever, took: 10 * time.Second, class: verdict.Overloaded, cause: retry.ErrExhausted, code: engine.CodeTryLater,
			text: "Gave up after 1 attempt and 1 retry of its own; retry later"},
		"by the longest wait":                    {steps: throttled, took: 5 * time.Minute, class: verdict.RateLimit, cause: retry.ErrMaxWait, code: engine.CodeTryLater, text: "the longest wait allowed is 5m"},
		"by the total timeout":                   {policy: retry.Policy{TotalTimeout: 150 * time.Second}, steps: throttled, took: 2 * time.Minute, class: verdict.RateLimit, cause: retry.ErrTotalTimeout, code: engine.CodeTryLater, text: "the longest wait allowed is 2m30s"},
		"where they are hopeless":                {steps: again(enginetest.Event{Retry: verdict.Auth, Wait: time.Minute, Hopeless: true}), class: verdict.Auth, cause: retry.ErrPermanent, code: engine.CodePersonMustAct, text: "its key was rejected"},
		"where they sleep without saying so":     {steps: []enginetest.Step{enginetest.Line(enginetest.Event{Retry: verdict.RateLimit}), enginetest.Hang()}, took: 5 * time.Minute, class: verdict.RateLimit, cause: retry.ErrMaxWait, code: engine.CodeTryLater, text: "the longest wait allowed is 5m"},
		"where they sleep again without a word":  {steps: []enginetest.Step{enginetest.Line(enginetest.Event{Retry: verdict.RateLimit}), enginetest.Wait(2 * time.Minute), enginetest.Line(enginetest.Event{Retry: verdict.RateLimit}), enginetest.Hang()}, took: 5 * time.Minute, class: verdict.RateLimit, cause: retry.ErrMaxWait, code: engine.CodeTryLater, text: "longest wait"},
		"as late as ours would, if quicker":      {steps: forever, class: verdict.Overloaded, took: 40 * time.Second, cause: retry.ErrExhausted, code: engine.CodeTryLater, text: "Gave up after 1 attempt and "},
		"by their own, where no retry was asked": {policy: retry.Policy{MaxRetries: retry.None}, steps: forever, class: verdict.Overloaded, code: 1, text: "it kept hitting an overloaded server"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := agentRunner(agent.Info{})
				r.Policy = tt.policy
				r.State, r.LogDir = runner(t, retry.Policy{}).State, engine.NoLogDir
				w := observe(r)
				script(r, steps(1, append(tt.steps, enginetest.Hang())...))
				res, err := r.Run(t.Context(), claude)
				if res.Verdict.Class != tt.class || res.ExitCode != tt.code || tt.cause != nil && !errors.Is(err, tt.cause) || res.ChildCode != 1 || res.Attempts != 1 {
					t.Errorf("exit code %d, %s after %d attempts: %v", res.ExitCode, res.Verdict.Class, res.Attempts, err)
				}
				if res.Duration != tt.took || res.Waited > res.Duration {
					t.Errorf("ended after %v, waited %v", res.Duration, res.Waited)
				}
				contains(t, res.Error, "stopped claude: ", tt.text)
				if retries := all[belaytype.InnerRetry](w); len(retries) == 0 || !strings.Contains(name, "sleep") && !retries[len(retries)-1].Ended {
					t.Errorf("told %+v", retries)
				}
				addsUp(t, r, res)
			})
		})
	}
}

// A CLI that asks again and again while its plan is used up is ended at once where the limit lasts longer than may be waited.
func TestEventLog_InnerRetriesAtALimit(t *testing.T) {
	for hint, ends := range map[time.Duration]bool{3 * time.Hour: true, 4 * time.Minute: false} {
		synctest.Test(t, func(t *testing.T) {
			r := agentRunner(agent.Info{})
			again := enginetest.Line(enginetest.Event{Retry: verdict.UsageLimit, Wait: 2 * time.Second, Hint: hint})
			script(r, steps(0, again, enginetest.Wait(2*time.Second), again, enginetest.Wait(4*time.Minute), enginetest.Line(enginetest.Event{Text: "done", Class: verdict.OK})))
			res, err := r.Run(t.Context(), claude)
			if !ends {
				must.OK(t, err)
				return
			}
			if !errors.Is(err, retry.ErrMaxWait) || res.Verdict.Class != verdict.UsageLimit || res.ExitCode != engine.CodeTryLater || res.Duration > 0 || time.Until(res.RetryAt) < hint {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
}

// A CLI that was asleep without having said for how long is charged for what it has slept.
func TestEventLog_SleepIsCharged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := agentRunner(agent.Info{})
		r.State, r.LogDir = runner(t, retry.Policy{}).State, engine.NoLogDir
		script(r, steps(0, enginetest.Line(enginetest.Event{Retry: verdict.RateLimit}), enginetest.Wait(4*time.Minute), enginetest.Line(enginetest.Event{Text: "done", Class: verdict.OK}), enginetest.Wait(10*time.Minute)))
		res, err := r.Run(t.Context(), claude)
		if err != nil || res.Waited != 4*time.Minute || res.Duration != 14*time.Minute {
			t.Errorf("waited %v of %v: %v", res.Waited, res.Duration, err)
		}
		addsUp(t, r, res)
	})
}

// The gate learns of retries inside the CLI as they come: others must not run into the same limit.
func TestEventLog_InnerRetriesTellTheGate(t *testing.T) {
	for class, held := range map[verdict.Class]bool{verdict.RateLimit: true, verdict.Overloaded: false} {
		synctest.Test(t, func(t *testing.T) {
			r := agentRunner(agent.Info{Gate: "claude:host"})
			var during gate.State
			script(r, steps(0, enginetest.Line(enginetest.Event{Retry: class, Wait: time.Minute, Hint: time.Minute}), enginetest.Wait(time.Minute),
				enginetest.Do(func() { during, _ = r.Shared.Load("claude:host") }), enginetest.Line(enginetest.Event{Text: "done", Class: verdict.OK})))
			if _, err := r.Run(t.Context(), claude); err != nil {
				t.Error(err)
			}
			if equal(t, "held", during.Hold.Reason != "", held); !held && (during.Breaker.Phase != breaker.Closed || during.Breaker.Failures != 1) {
				t.Errorf("%+v", during.Breaker)
			}
		})
	}
}

// Retries of which the CLI has not told are counted by how long they took: ours must not multiply them.
func TestEventLog_UnseenRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := agentRunner(agent.Info{})
		r.State, r.LogDir = runner(t, retry.Policy{}).State, engine.NoLogDir
		account := enginetest.Account(agent.Account{Unseen: 3})
		s := script(r, steps(1, enginetest.Wait(4*time.Minute), enginetest.Line(enginetest.Event{Class: verdict.RateLimit, Hint: 10 * time.Second, Account: account})), steps(0))
		res, err := r.Run(t.Context(), claude)
		// Four of five minutes are used up inside the first attempt.
		if err != nil || len(s.Starts()) != 2 || res.Waited < 4*time.Minute+10*time.Second || res.Waited > 4*time.Minute+12*time.Second {
			t.Errorf("%d starts, waited %v: %v", len(s.Starts()), res.Waited, err)
		}
		if log := entries(t, r); log[0].InnerRetries != 3 || log[0].InnerWait != 240 {
			t.Errorf("on record: %+v", log[0])
		}
		addsUp(t, r, res)
	})
}

// A conversation is the caller's: everything is passed on at once, there is one attempt, and it may wait for its caller for
// ever.
func TestEventLog_Conversation(t *testing.T) {
	traits := agent.Info{Once: true, Stall: time.Minute, ToolStall: 2 * time.Minute, Form: agent.Stream}
	t.Run("PassesEverythingOnAtOnce", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := agentRunner(traits)
			var out bytes.Buffer
			var early string
			hello, drop := enginetest.Event{Session: oneSession, Talk: enginetest.Talk{Waiting: true}}, enginetest.Event{Show: agent.Drop}
			script(r, steps(0, enginetest.Line(hello), enginetest.Line(drop), enginetest.Print("half"), enginetest.Do(func() { early = out.String() }), enginetest.Print(" a line\n")))
			c := claude
			c.Stdout = &out
			if _, err := r.Run(t.Context(), c); err != nil {
				t.Error(err)
			}
			equal(t, "printed at once", early, said(hello)+said(drop)+"half")
			equal(t, "printed", out.String(), early+" a line\n")
		})
	})
	t.Run("WaitsForItsCallerForEver", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := agentRunner(traits)
			script(r, steps(0, enginetest.Wait(10*time.Hour), enginetest.Line(enginetest.Event{Text: "Yes?", Done: true, Talk: enginetest.Talk{Waiting: true}}), enginetest.Wait(10*time.Hour),
				enginetest.Line(enginetest.Event{Answered: true}), enginetest.Hang()))
			res, err := r.Run(t.Context(), claude)
			// It stalls when it is its turn, and never before.
			if err == nil || res.Verdict.Class != verdict.Stalled || res.Duration != 20*time.Hour+time.Minute || res.Attempts != 1 {
				t.Errorf("%s after %v and %d attempts: %v", res.Verdict.Class, res.Duration, res.Attempts, err)
			}
		})
	})
	t.Run("StallsAfterAMessage", func(t *testing.T) {
		idle, begun := enginetest.Line(enginetest.Event{Talk: enginetest.Talk{Waiting: true}}), enginetest.Line(enginetest.Event{Answered: true})
		over := enginetest.Line(enginetest.Event{Text: "Yes.", Done: true, Talk: enginetest.Talk{Waiting: true, TurnOver: true}})
		asks := func(line []byte) bool { return string(line) == "ask" }
		for name, tt := range map[string]struct {
			said  []string // by the caller, one each hour
			steps []enginetest.Step
			asks  func([]byte) bool
			took  time.Duration // until it stalls; 0 if it does not
		}{
			"without a word":              {[]string{"ask\n"}, []enginetest.Step{enginetest.Hang()}, asks, time.Hour + time.Minute},
			"after an event of the start": {[]string{"as", "k\n"}, []enginetest.Step{idle, enginetest.Wait(2*time.Hour + 30*time.Second), idle, enginetest.Hang()}, asks, 2*time.Hour + 90*time.Second},
			"in the second turn":          {[]string{"ask\n", "ask\n"}, []enginetest.Step{enginetest.Wait(time.Hour + time.Second), begun, over, enginetest.Hang()}, asks, 2*time.Hour + time.Minute},
			"after something long":        {[]string{strings.Repeat("x", 40_000) + "\n", "ask\n"}, []enginetest.Step{enginetest.Hang()}, asks, 2*time.Hour + time.Minute},
			"not before the message ends": {[]string{"ask"}, []enginetest.Step{enginetest.Wait(9 * time.Hour)}, asks, 0},
			"not after what asks nothing": {[]string{"keep alive\n"}, []enginetest.Step{enginetest.Wait(9 * time.Hour)}, asks, 0},
			"not once it has answered":    {[]string{"ask\n"}, []enginetest.Step{enginetest.Wait(time.Hour + time.Second), begun, over, enginetest.Wait(9 * time.Hour)}, asks, 0},
			"not where that is not known": {[]string{"ask\n"}, []enginetest.Step{enginetest.Wait(9 * time.Hour)}, nil, 0},
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					talks := traits
					talks.Asks = tt.asks
					r := agentRunner(talks)
					script(r, enginetest.Attempt{Steps: tt.steps})
					c := claude
					c.Stdin = &hourly{said: tt.said}
					res, err := r.Run(t.Context(), c)
					if stalled := res.Verdict.Class == verdict.Stalled; stalled != (tt.took > 0) || stalled && res.Duration != tt.took {
						t.Errorf("%s after %v: %v", res.Verdict.Class, res.Duration, err)
					}
				})
			})
		}
	})
	t.Run("IsNotRestarted", func(t *testing.T) {
		for _, account := range []agent.Account{{Misunderstood: true}, {}} {
			synctest.Test(t, func(t *testing.T) {
				r := agentRunner(traits)
				r.Resume = belaytype.Resume{Session: oneSession, OrNew: true}
				s := script(r, steps(1, enginetest.Line(enginetest.Event{Class: verdict.SessionNotFound, Account: enginetest.Account(account)})))
				if res, err := r.Run(t.Context(), claude); err == nil || len(s.Starts()) != 1 || res.Verdict.Class != verdict.SessionNotFound {
					t.Errorf("%d starts: %v", len(s.Starts()), err)
				}
			})
		}
	})
	t.Run("OnlyCountsInnerRetries", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := agentRunner(traits)
			r.State, r.LogDir = runner(t, retry.Policy{}).State, engine.NoLogDir
			w := observe(r)
			var list []enginetest.Step
			for range 50 {
				list = append(list, enginetest.Line(enginetest.Event{Retry: verdict.Overloaded, Wait: 20 * time.Second}), enginetest.Wait(20*time.Second))
			}
			script(r, steps(0, append(list, enginetest.Line(enginetest.Event{Text: "done", Class: verdict.OK}))...))
			if res, err := r.Run(t.Context(), claude); err != nil || res.Waited != 1000*time.Second {
				t.Errorf("waited %v: %v", res.Waited, err)
			}
			if log := entries(t, r); log[0].InnerRetries != 50 || len(all[belaytype.InnerRetry](w)) != 0 {
				t.Errorf("on record: %+v", log[0])
			}
		})
	})
	t.Run("GetsItsStdinAsItIs", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := agentRunner(traits)
			null, err := os.Open(os.DevNull)
			must.OK(t, err)
			defer null.Close()
			s := script(r, steps(0))
			c := claude
			c.Stdin = null
			r.Run(t.Context(), c)
			if s.Starts()[0].Spec.Stdin != null {
				t.Error("it has got another")
			}
		})
	})
	t.Run("ReaderGoesAway", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := agentRunner(traits)
			script(r, steps(0, enginetest.Unmoved(enginetest.Line(enginetest.Event{Text: "one"})), enginetest.Hang()))
			c := claude
			c.Stdout = &closedWriter{}
			if res, _ := r.Run(t.Context(), c); res.ExitCode != 128+int(syscall.SIGPIPE) || res.Verdict.Rule != "unread" {
				t.Errorf("exit code %d, %+v", res.ExitCode, res.Verdict)
			}
		})
	})
}

// An attempt that is given up is stopped at once if the model has not even answered, and else with the care that its tools
// need.
func TestEventLog_StopsWithCare(t *testing.T) {
	for name, tt := range map[string]struct {
		answered bool
		took     time.Duration
	}{"before the model answers": {false, 2 * time.Second}, "after that": {true, 5 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := agentRunner(agent.Info{})
				script(r, enginetest.Attempt{Deaf: true, Steps: append(enginetest.Lines(enginetest.Event{Answered: tt.answered}, enginetest.Event{Retry: verdict.Auth, Hopeless: true},
					enginetest.Event{Retry: verdict.Auth, Hopeless: true}), enginetest.Hang())})
				if res, _ := r.Run(t.Context(), claude); res.Duration != tt.took {
					t.Errorf("ended after %v", res.Duration)
				}
			})
		})
	}
}

// The version of a CLI that the profile is not tested with is told of once.
func TestEventLog_UntestedVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := agentRunner(agent.Info{})
		r.Profile.(*enginetest.Agent).Facts.Tested = agent.Tested{"2.1.0", "2.0.0"}
		w := observe(r)
		version := enginetest.Account(agent.Account{Version: "3.0.0"})
		script(r, steps(1, enginetest.Line(enginetest.Event{Class: verdict.Overloaded, Account: version})), steps(0, enginetest.Line(enginetest.Event{Class: verdict.OK, Account: version})))
		r.Run(t.Context(), claude)
		if untested := all[belaytype.UntestedVersion](w); len(untested) != 1 || untested[0].Version != "3.0.0" || !strings.HasPrefix(untested[0].Standing, "newer than 2.1.0") {
			t.Errorf("told %+v", untested)
		}
	})
}

// Which tools an agent has used, and when, is on record.
func TestEventLog_ToolsOnRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := agentRunner(agent.Info{})
		r.State, r.LogDir = runner(t, retry.Policy{}).State, engine.NoLogDir
		begin := time.Now()
		use := agent.ToolUse{Totals: []agent.ToolTotal{{Name: "Bash", Count: 2, Time: 3 * time.Second}, {Name: "Read", Count: 1}},
			Calls: []agent.ToolCall{{Name: "Bash", Start: begin.Add(1500 * time.Millisecond), Time: 2 * time.Second}}, Cut: 2}
		script(r, steps(0, enginetest.Wait(2*time.Second), enginetest.Line(enginetest.Event{Text: "done", Class: verdict.OK, Account: enginetest.Account(agent.Account{Tools: use, Model: "opus", Requests: 7})})))
		if res, err := r.Run(t.Context(), claude); err != nil || res.Requests != 7 {
			t.Errorf("%d requests: %v", res.Requests, err)
		}
		e := entries(t, r)[0]
		equal(t, "on record", fmt.Sprintln(e.Tools, e.ToolCalls, e.ToolsCut, e.FirstToken, e.Model, e.Requests), "[{Bash 2 3} {Read 1 0}] [{Bash 1.5 2}] 2 2 opus 7\n")
	})
}

// What something else prints says nothing of the CLI: a result that is there is still there, and a sleep goes on.
func TestEventLog_ForeignLinesSayNothingOfTheCLI(t *testing.T) {
	for name, tt := range map[string]struct {
		event enginetest.Event
		took  time.Duration
	}{
		"that has delivered": {enginetest.Event{Text: "done", Done: true, Class: verdict.OK}, 30 * time.Second},
		"that sleeps":        {enginetest.Event{Retry: verdict.RateLimit}, 5 * time.Minute},
		"whose tool runs":    {enginetest.Event{Tools: 1}, 2*time.Hour + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := agentRunner(agent.Info{Stall: time.Hour, ToolStall: 2 * time.Hour})
				if tt.event.Retry == "" {
					r.Policy.MaxRetries = retry.None
				}
				script(r, steps(0, enginetest.Line(tt.event), enginetest.Wait(time.Second), enginetest.Print("npm notice\n"), enginetest.Hang()))
				if res, err := r.Run(t.Context(), claude); res.Duration != tt.took {
					t.Errorf("ended after %v: %v", res.Duration, err)
				}
			})
		})
	}
}

// A reader that is gone before the engine knows of the process still ends it: some CLIs would go on, which costs
// money.
func TestEventLog_ReaderGoesAwayBeforeTheProcessIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := agentRunner(agent.Info{Form: agent.Stream})
		script(r, enginetest.Attempt{Before: []enginetest.Step{enginetest.Unmoved(enginetest.Line(enginetest.Event{Text: "one"}))},
			Steps: []enginetest.Step{enginetest.Wait(time.Hour), enginetest.Unmoved(enginetest.Line(enginetest.Event{Text: "two"})), enginetest.Wait(time.Hour)}})
		c := claude
		c.Stdout = &closedWriter{}
		res, err := r.Run(t.Context(), c)
		if err == nil || res.Duration != 0 || res.ExitCode != 128+int(syscall.SIGPIPE) {
			t.Errorf("exit code %d after %v: %v", res.ExitCode, res.Duration, err)
		}
	})
}

// hourly is a caller who says something each hour.
type hourly struct {
	said []string
	left string
}

func (h *hourly) Read(p []byte) (int, error) {
	if h.left == "" {
		if len(h.said) == 0 {
			return 0, io.EOF
		}
		time.Sleep(time.Hour)
		h.left, h.said = h.said[0], h.said[1:]
	}
	n := copy(p, h.left)
	h.left = h.left[n:]
	return n, nil
}
