package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// modelCall is the end of a model call that has cost so much, in tools that take a second if the model is to be asked again.
func modelCall(usd float64, goesOn bool) []enginetest.Step {
	tools := 0
	if goesOn {
		tools = 1
	}
	steps := enginetest.Lines(enginetest.Event{Session: oneSession, Text: "hm", Turn: used(&usd), Tools: tools, GoesOn: goesOn})
	if goesOn {
		steps = append(steps, enginetest.Wait(time.Second), enginetest.Line(enginetest.Event{Answered: true}))
	}
	return steps
}

func used(usd *float64) *verdict.Usage {
	return &verdict.Usage{InputTokens: 100, OutputTokens: 10, CostUSD: usd}
}

// expensive is an attempt of so many model calls at a dime, which ends with its result.
func expensive(calls int) enginetest.Attempt {
	var list []enginetest.Step
	for n := range calls {
		list = append(list, modelCall(0.1, n < calls-1)...)
	}
	sum := 0.1 * float64(calls)
	account := enginetest.Account(agent.Account{Session: oneSession, Active: true, Turns: calls, Usage: *used(&sum)})
	list = append(list, enginetest.Line(enginetest.Event{Text: "done", Done: true, Account: account}))
	return enginetest.Attempt{Steps: list}
}

// costly is a runner with a state directory whose gates are its own.
func costly(t *testing.T, attempts ...enginetest.Attempt) (*engine.Runner, *enginetest.Script) {
	r := agentRunner(agent.Info{})
	r.State, r.LogDir = &state.State{Dir: t.TempDir()}, engine.NoLogDir
	return r, script(r, attempts...)
}

func perDay(name string, usd float64) budget.Joined {
	return budget.Joined{Name: name, Terms: &budget.Terms{Limit: usd, Window: budget.Day}}
}

func standing(t *testing.T, r *engine.Runner, name string) budget.Standing {
	t.Helper()
	s, err := r.State.Budgets().Book(name, nil).Check(time.Now())
	must.OK(t, err)
	return s
}

// An agent is stopped between two answers once the limit is reached: at that plus one model call at most.
func TestSpending_StopsWithinAnAttempt(t *testing.T) {
	for name, limit := range map[string]func(*engine.Runner){
		"max cost": func(r *engine.Runner) { r.MaxCost = 0.5 },
		"budget":   func(r *engine.Runner) { r.Budgets = []budget.Joined{perDay("nightly", 0.5)} },
		"run around it": func(*engine.Runner) {
			t.Setenv(engine.ChargeVar, "run:01234567-89ab-cdef-0123-456789abcdef=0.5")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, script := costly(t, expensive(60))
				limit(r)
				res, err := r.Run(t.Context(), claude)
				if len(script.Starts()) != 1 || !isA[*belaytype.MaxCostReached](err) || res.Verdict.Class != verdict.LimitReached {
					t.Errorf("%d starts, %v, %v", len(script.Starts()), err, res.Verdict)
				}
				equal(t, "time", res.Duration.Round(time.Second), 4*time.Second) // four of the tools
				equal(t, "session", res.Session, oneSession)
				code, until := 1, time.Time{}
				if name == "budget" {
					code, until = engine.CodeTryLater, budget.Day.Ends(time.Now())
				}
				equal(t, "exit code", res.ExitCode, code)
				equal(t, "retry at", res.RetryAt, until)
				contains(t, res.Error, "stopped claude: ", "is used up", "($0.5000 of $0.5")
				os.Unsetenv(engine.ChargeVar)
			})
		})
	}
}

// Runs that are charged to one book, as the tasks of a batch are, go beyond its limit by one model call each at most, and none is stopped below
// it: whether the book is on file, where what runs inside them is charged too, or in memory, with a state directory or without.
func TestSpending_RunsOfABatch(t *testing.T) {
	const id, limit, spent, jobs = "01234567-89ab-cdef-0123-456789abcdef", 2.0, 0.3, 8
	terms := budget.Terms{Limit: limit}
	for name, open := range map[string]func(s *state.State) *budget.Book{
		"File":    func(s *state.State) *budget.Book { return s.RunCosts().Book(id, &terms) },
		"Memory":  func(*state.State) *budget.Book { return budget.InMemory("batch", terms) },
		"NoState": func(*state.State) *budget.Book { return budget.InMemory("batch", terms) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &state.State{Dir: t.TempDir()}
				must.OK(t, s.Prepare())
				book := open(s)
				if _, err := book.Charge(time.Now(), budget.Charge{USD: spent}); err != nil { // by an earlier start
					t.Fatal(err)
				}
				ctx := budget.Around(t.Context(), book)
				errs := make([]error, jobs)
				var all sync.WaitGroup
				for n := range jobs {
					r, script := costly(t, expensive(10))
					if r.State = s; name == "NoState" {
						r.State = nil
					}
					all.Go(func() {
						time.Sleep(time.Duration(n) * 100 * time.Millisecond)
						_, errs[n] = r.Run(ctx, claude)
						charge := "batch:" + id + "=2"
						if got := slices.Contains(script.Starts()[0].Spec.Env, engine.ChargeVar+"="+charge); got != (name == "File") {
							t.Errorf("the environment has the limit: %v", got)
						}
					})
				}
				all.Wait()
				for n, err := range errs {
					if reached, ok := errors.AsType[*belaytype.MaxCostReached](err); !ok || reached.Run != book.Name || reached.Spent < limit-1e-9 {
						t.Errorf("run %d: %v", n, err)
					}
				}
				if now, err := book.Check(time.Now()); err != nil || !now.Reached() || now.Spent > limit+jobs*0.1 {
					t.Errorf("$%.2f were spent, %v", now.Spent, err)
				}
			})
		})
	}
}

// A run that was stopped for its cost says so also where its events were passed on: they end without a word about it. It is
// no failure of the agent's, of which too many would raise an alert.
func TestSpending_StopIsSaid(t *testing.T) {
	for name, limit := range map[string]func(*engine.Runner){
		"max cost": func(r *engine.Runner) { r.MaxCost = 0.5 },
		"budget":   func(r *engine.Runner) { r.Budgets = []budget.Joined{perDay("nightly", 0.5)} },
	} {
		synctest.Test(t, func(t *testing.T) {
			r, _ := costly(t, expensive(60))
			limit(r)
			r.Profile, r.Alert.Failures = &enginetest.Agent{Facts: agent.Info{Form: agent.Stream}}, 1
			told := observe(r)
			var out strings.Builder
			command := claude
			command.Stdout = &out
			res, err := r.Run(t.Context(), command)
			if !isA[*belaytype.MaxCostReached](err) || !res.Silent || out.Len() == 0 {
				t.Errorf("%s: %v, silent %v, %d bytes", name, err, res.Silent, out.Len())
			}
			if alerts := all[belaytype.AlertRaised](told); len(alerts) > 0 {
				t.Errorf("%s: %+v", name, alerts)
			}
		})
	}
}

// What has delivered its result is neither stopped nor failed, whatever it has cost; nor is the last answer lost.
func TestSpending_ResultIsKept(t *testing.T) {
	for name, attempt := range map[string]enginetest.Attempt{
		"the last call is too expensive": {Steps: append(modelCall(7, false),
			enginetest.Wait(time.Second), enginetest.Line(enginetest.Event{Text: "done", Done: true}), enginetest.Wait(3*time.Second))},
		"work after the result": {Steps: append(append(modelCall(0.1, false), enginetest.Line(enginetest.Event{Text: "done", Done: true})),
			modelCall(7, false)...)},
	} {
		synctest.Test(t, func(t *testing.T) {
			r, script := costly(t, attempt)
			r.MaxCost, r.Budgets = 0.5, []budget.Joined{perDay("x", 0.5)}
			res, err := r.Run(t.Context(), claude)
			if err != nil || res.ExitCode != 0 || len(script.Starts()) != 1 {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	// The stop was under way when the result came.
	synctest.Test(t, func(t *testing.T) {
		last := enginetest.Line(enginetest.Event{Text: "done", Done: true, Class: verdict.OK})
		r, _ := costly(t, enginetest.Attempt{Deaf: true, Steps: []enginetest.Step{modelCall(7, true)[0], enginetest.Wait(time.Millisecond), last}})
		r.MaxCost = 0.5
		var out strings.Builder
		command := claude
		command.Stdout = &out
		res, err := r.Run(t.Context(), command)
		if err != nil || res.ExitCode != 0 || out.String() != "done\n" {
			t.Errorf("%v, %q", err, out.String())
		}
	})
}

// A conversation is not cut off in its answer; it ends when its caller asks for more.
func TestSpending_Conversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := append(modelCall(0.6, false), enginetest.Line(enginetest.Event{Text: "first answer", Done: true, Talk: enginetest.Talk{Waiting: true}}), enginetest.Wait(time.Minute))
		list = append(list, enginetest.Line(enginetest.Event{Session: oneSession}), enginetest.Hang())
		r, _ := costly(t, enginetest.Attempt{Steps: list})
		r.Profile = &enginetest.Agent{Facts: agent.Info{Once: true}}
		r.MaxCost = 0.5
		res, err := r.Run(t.Context(), claude)
		if !isA[*belaytype.MaxCostReached](err) || res.Duration < time.Minute || res.Duration > 2*time.Minute || res.Verdict.Class != verdict.LimitReached {
			t.Errorf("%v after %v", err, res.Duration)
		}
	})
}

// What an attempt has cost that stalled and was killed counts, by its model calls.
func TestSpending_KilledAttemptCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stalls := enginetest.Attempt{Steps: append(append(modelCall(0.2, true), modelCall(0.1, true)...), enginetest.Hang())}
		r, script := costly(t, stalls, expensive(60))
		r.Stall, r.MaxCost, r.Budgets = 10*time.Second, 0.5, []budget.Joined{perDay("x", 100)}
		res, err := r.Run(t.Context(), claude)
		if len(script.Starts()) != 2 || !isA[*belaytype.MaxCostReached](err) || res.Attempts != 2 {
			t.Errorf("%d starts, %v", len(script.Starts()), err)
		}
		if s := standing(t, r, "x"); s.Spent != 0.5 || s.Unknown != 0 {
			t.Errorf("%+v", s)
		}
		contains(t, res.Error, "$0.5000 of $0.5")
	})
}

// What is told in the end takes the place of what was charged meanwhile.
func TestSpending_IsSettled(t *testing.T) {
	third := 0.3
	for name, tt := range map[string]struct {
		account agent.Account
		want    float64
		unknown int
	}{
		"it was less":      {cost(0.25), 0.25, 0},
		"it was more":      {cost(1.5), 1.5, 0},
		"it does not tell": {agent.Account{Usage: verdict.Usage{InputTokens: 5}}, 0.3, 0},
		"it was cut off":   {agent.Account{Usage: verdict.Usage{InputTokens: 5, Unknown: true, CostUSD: &third}}, 0.3, 0},
		"it tells nothing": {agent.Account{}, 0.3, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			r, _ := costly(t, enginetest.Attempt{Steps: append(modelCall(0.3, false), enginetest.Line(enginetest.Event{Done: true, Text: "done", Account: enginetest.Account(tt.account)}))})
			r.Budgets = []budget.Joined{perDay("x", 10)}
			if _, err := r.Run(t.Context(), claude); err != nil {
				t.Error(err)
			}
			if s := standing(t, r, "x"); s.Spent != tt.want || s.Unknown != tt.unknown {
				t.Errorf("%s: %+v", name, s)
			}
		})
	}
}

// With a maximum cost, an attempt whose cost is not known is the last one. Under a budget it is counted as unknown and said;
// only a strict one lets nothing start after it.
func TestSpending_UnknownCost(t *testing.T) {
	unknown := agent.Account{Session: oneSession, Active: true, Usage: verdict.Usage{InputTokens: 1_000_000}}
	attempts := func(r *engine.Runner) *[]agent.Turn {
		return converse(r, agent.Info{}, step{verdict.Overloaded, unknown}, step{verdict.OK, cost(0.1)})
	}
	synctest.Test(t, func(t *testing.T) {
		r, _ := costly(t)
		turns := attempts(r)
		r.MaxCost = 0.01
		res, err := r.Run(t.Context(), claude)
		if len(*turns) != 1 || !isA[*belaytype.MaxCostReached](err) || !strings.Contains(res.Error, "aximum cost ($0.01) cannot be kept because the cost of 1 attempt is unknown") {
			t.Errorf("%d attempts, %v", len(*turns), err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r, _ := costly(t)
		turns, told := attempts(r), observe(r)
		r.Budgets = []budget.Joined{perDay("x", 0.5)}
		_, err := r.Run(t.Context(), claude)
		notices := all[belaytype.CostNotice](told)
		if s := standing(t, r, "x"); err != nil || len(*turns) != 2 || s.Spent != 0.1 || s.Unknown != 1 || len(notices) != 1 || !notices[0].Unknown {
			t.Errorf("%d attempts, %+v, %+v, %v", len(*turns), s, notices, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r, _ := costly(t)
		turns := attempts(r)
		r.Budgets = []budget.Joined{perDay("x", 0.5)}
		r.Budgets[0].Terms.Strict = true
		res, err := r.Run(t.Context(), claude)
		if len(*turns) != 1 || res.ExitCode != engine.CodeTryLater || !res.RetryAt.Equal(budget.Day.Ends(time.Now())) {
			t.Errorf("%d attempts, exit code %d, %v", len(*turns), res.ExitCode, err)
		}
		contains(t, res.Error, "Budget x is closed until ")
	})
	// The cost of the next attempt includes it after all.
	synctest.Test(t, func(t *testing.T) {
		r, _ := costly(t)
		settling := cost(0.4)
		settling.Usage.Settles = 1
		converse(r, agent.Info{}, step{verdict.Overloaded, unknown}, step{verdict.OK, settling})
		r.Budgets = []budget.Joined{perDay("x", 1)}
		if _, err := r.Run(t.Context(), claude); err != nil {
			t.Error(err)
		}
		if s := standing(t, r, "x"); s.Spent != 0.4 || s.Unknown != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// A budget that is used up refuses agents, at once and after the wait at a gate, with the time that it opens again.
func TestSpending_BudgetRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, script := costly(t, expensive(1))
		r.Budgets = []budget.Joined{perDay("nightly", 0.3)}
		for n := range 3 {
			if _, err := r.Run(t.Context(), claude); err != nil {
				t.Fatal(n, err)
			}
		}
		for _, retries := range []retry.Policy{{}, {MaxRetries: retry.None, CountThrottles: true}} {
			r.Policy = retries
			res, err := r.Run(t.Context(), claude)
			if !isA[*belaytype.MaxCostReached](err) || res.ExitCode != engine.CodeTryLater || res.Attempts != 0 || len(script.Starts()) != 3 {
				t.Errorf("%v, exit code %d", err, res.ExitCode)
			}
			equal(t, "retry at", res.RetryAt, budget.Day.Ends(time.Now()))
			contains(t, res.Error, "budget nightly is used up until ")
		}
		time.Sleep(time.Until(budget.Day.Ends(time.Now())))
		if _, err := r.Run(t.Context(), claude); err != nil {
			t.Error("on the next day:", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r, script := costly(t, expensive(1))
		r.Budgets, r.Gate.Key = []budget.Joined{perDay("x", 0.3)}, "api"
		r.Policy.MaxWait = time.Hour
		held := time.Now().Add(time.Minute)
		must.OK(t, r.Shared.Update("api", time.Now(), func(s gate.State) gate.State { return s.Held(time.Now(), held, "test") }))
		time.AfterFunc(30*time.Second, func() {
			if _, err := r.State.Budgets().Book("x", nil).Charge(time.Now(), budget.Charge{USD: 5}); err != nil {
				t.Error(err)
			}
		})
		res, err := r.Run(t.Context(), claude)
		if !isA[*belaytype.MaxCostReached](err) || len(script.Starts()) != 0 || res.ExitCode != engine.CodeTryLater {
			t.Errorf("%d starts, %v", len(script.Starts()), err)
		}
	})
}

// Only agents cost anything: other commands are never refused, and pass the limits on to what runs inside them.
func TestSpending_OtherCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const around = "run:01234567-89ab-cdef-0123-456789abcdef=2"
		t.Setenv(engine.ChargeVar, around+",budget:weekly,nonsense,budget:../x,run:x=1,run:01234567-89ab-cdef-0123-456789abcdee=-1")
		r := &engine.Runner{State: &state.State{Dir: t.TempDir()}, Limits: engine.Limits{MaxCost: 0.5, Budgets: []budget.Joined{perDay("x", 0.1), {Name: "weekly"}}}}
		if _, err := r.State.Budgets().Book("x", nil).Charge(time.Now(), budget.Charge{USD: 5}); err != nil {
			t.Fatal(err)
		}
		env := &environ{Script: script(r, steps(0))}
		r.Starter = env
		inv := start(t, r, tool)
		if _, err := inv.Wait(); err != nil {
			t.Error(err)
		}
		equal(t, "passed on", env.last, "run:"+inv.ID()+"=0.5,"+around+",budget:weekly,budget:x")
		if s := standing(t, r, "x"); s.Limit != 0.1 {
			t.Errorf("the terms are not on file: %+v", s)
		}
		r.State = nil
		if _, err := r.Run(t.Context(), tool); err != nil {
			t.Error(err)
		}
		equal(t, "passed on without a state", env.last, os.Getenv(engine.ChargeVar))
	})
}

// environ remembers what commands are told of limits.
type environ struct {
	*enginetest.Script
	last string
}

func (e *environ) Run(spec supervise.Spec, started func(engine.Process)) (supervise.Exit, error) {
	e.last = agent.Getenv(spec.Env, engine.ChargeVar)
	return e.Script.Run(spec, started)
}

func asMaxCost(err error) *belaytype.MaxCostReached {
	cause, _ := errors.AsType[*belaytype.MaxCostReached](err)
	return cause
}

// What runs inside a run counts towards its limits: it is stopped at them, and the run around it starts nothing more.
func TestSpending_Nested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outer, outerScript := costly(t)
		inner, innerScript := costly(t, expensive(60))
		inner.State = outer.State
		env := &environ{Script: outerScript}
		outer.Starter = env
		var innerErr error
		outerScript.Attempts = []enginetest.Attempt{{Code: 1, Steps: append(modelCall(0.2, false),
			enginetest.Do(func() {
				t.Setenv(engine.ChargeVar, env.last)
				_, innerErr = inner.Run(t.Context(), claude)
				os.Unsetenv(engine.ChargeVar)
			}), enginetest.Line(enginetest.Event{Class: verdict.Overloaded}))}}
		outer.MaxCost, outer.Budgets = 0.5, []budget.Joined{perDay("x", 10)}
		_, err := outer.Run(t.Context(), claude)
		cause := asMaxCost(innerErr)
		if cause == nil || cause.Run == "" || cause.Spent != 0.5 || len(innerScript.Starts()) != 1 {
			t.Errorf("inside: %v", innerErr)
		}
		if cause := asMaxCost(err); cause == nil || cause.Run != "" || len(outerScript.Starts()) != 1 {
			t.Errorf("around it: %v", err)
		}
		if s := standing(t, outer, "x"); s.Spent != 0.5 {
			t.Errorf("%+v", s)
		}
		if left, _ := filepath.Glob(filepath.Join(outer.State.Dir, "costs", "*.json")); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

// A state directory in trouble lets everything in and says so once; the run's own limit holds.
func TestSpending_Trouble(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"no directory": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "budgets"), nil, 0o600)
		},
		"damaged": func(dir string) error {
			if err := os.Mkdir(filepath.Join(dir, "budgets"), 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "budgets", "x.json"), []byte("{"), 0o600)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			r, _ := costly(t, expensive(3))
			must.OK(t, spoil(r.State.Dir))
			told := observe(r)
			r.Budgets = []budget.Joined{{Name: "x"}}
			if _, err := r.Run(t.Context(), claude); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if list := all[belaytype.CostNotice](told); len(list) != 1 || list[0].Err == nil || list[0].Budget != "x" {
				t.Errorf("%s: %+v", name, list)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		r, script := costly(t, expensive(60))
		must.OK(t, os.WriteFile(filepath.Join(r.State.Dir, "costs"), nil, 0o600))
		r.MaxCost = 0.5
		if _, err := r.Run(t.Context(), claude); !isA[*belaytype.MaxCostReached](err) || len(script.Starts()) != 1 {
			t.Errorf("%v", err)
		}
		r.State = nil
		if _, err := r.Run(t.Context(), claude); !isA[*belaytype.MaxCostReached](err) || len(script.Starts()) != 2 {
			t.Errorf("without a state: %v", err)
		}
	})
}

// That a budget is nearly used up is said once a run.
func TestSpending_NearlyUsedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := costly(t, expensive(9))
		r.Budgets = []budget.Joined{perDay("x", 1)}
		told := observe(r)
		if _, err := r.Run(t.Context(), claude); err != nil {
			t.Error(err)
		}
		if list := all[belaytype.CostNotice](told); len(list) != 1 || list[0].Limit != 1 || list[0].Spent < 0.8 || list[0].Spent > 0.81 {
			t.Errorf("%+v", list)
		}
	})
}
