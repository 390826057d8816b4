package engine_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

const (
	oneSession   = "01234567-89ab-4def-8123-456789abcdef"
	otherSession = "11234567-89ab-4def-8123-456789abcdef"
)

// step is an attempt: how it ends, and what it has done.
type step struct {
	class   verdict.Class
	account agent.Account
}

// converse scripts an agent whose attempts take a second each, and returns the turns that they were asked to do.
func converse(r *engine.Runner, traits agent.Info, steps ...step) *[]agent.Turn {
	script := &enginetest.Script{}
	for _, s := range steps {
		code := 1
		if s.class == verdict.OK {
			code = 0
		}
		script.Attempts = append(script.Attempts, enginetest.Attempt{Code: code, Steps: []enginetest.Step{enginetest.Wait(time.Second),
			enginetest.Line(enginetest.Event{Class: s.class, Account: enginetest.Account(s.account)})}})
	}
	var planned, turns []agent.Turn
	r.Starter = starter{script, func() { turns = append(turns, planned[len(planned)-1]) }}
	r.Profile = &enginetest.Agent{Facts: traits, Turns: func(t agent.Turn) { planned = append(planned, t) }}
	return &turns
}

// starter is told of each start.
type starter struct {
	*enginetest.Script
	told func()
}

func (s starter) Run(spec supervise.Spec, started func(engine.Process)) (supervise.Exit, error) {
	s.told()
	return s.Script.Run(spec, started)
}

// isA reports whether there is an error of that type.
func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// shown is a turn in a few words.
func shown(turns []agent.Turn) (list []string) {
	for _, t := range turns {
		text := "fresh"
		switch {
		case t.Continue:
			text = "continue " + t.Session[:1]
		case t.Session != "":
			text = "resume " + t.Session[:1]
		}
		if t.Plain {
			text += " plain"
		}
		list = append(list, text)
	}
	return list
}

func TestTurn_Turns(t *testing.T) {
	idle := agent.Account{Session: oneSession}
	busy := agent.Account{Session: oneSession, Active: true}
	tests := map[string]struct {
		runner engine.Runner
		traits agent.Info
		steps  []step
		turns  []string
		class  verdict.Class
	}{
		"what has done nothing begins anew": {
			steps: []step{{verdict.Overloaded, idle}, {verdict.OK, idle}}, turns: []string{"fresh", "fresh"}, class: verdict.OK},
		"what has done something goes on": {
			steps: []step{{verdict.Overloaded, busy}, {verdict.Overloaded, idle}, {verdict.OK, busy}},
			turns: []string{"fresh", "continue 0", "continue 0"}, class: verdict.OK},
		"unless that is not wanted": {runner: engine.Runner{Resume: belaytype.Resume{Never: true}},
			steps: []step{{verdict.Overloaded, busy}, {verdict.OK, busy}}, turns: []string{"fresh", "fresh"}, class: verdict.OK},
		"a session that is gone is begun anew, at no cost": {
			steps: []step{{verdict.Overloaded, busy}, {verdict.SessionNotFound, agent.Account{}}, {verdict.OK, busy}},
			turns: []string{"fresh", "continue 0", "fresh"}, class: verdict.OK},
		"a name cannot be given twice": {traits: agent.Info{Fixed: oneSession},
			steps: []step{{verdict.Overloaded, idle}, {verdict.OK, idle}}, turns: []string{"fresh", "continue 0"}, class: verdict.OK},
		"a session that was asked for": {runner: engine.Runner{Resume: belaytype.Resume{Session: otherSession}},
			steps: []step{{verdict.Network, idle}, {verdict.OK, idle}}, turns: []string{"resume 1", "resume 1"}, class: verdict.OK},
		"one that is not there": {runner: engine.Runner{Resume: belaytype.Resume{Session: otherSession}},
			steps: []step{{verdict.SessionNotFound, idle}}, turns: []string{"resume 1"}, class: verdict.SessionNotFound},
		"one that is not there, or a new one": {runner: engine.Runner{Resume: belaytype.Resume{Session: otherSession, OrNew: true}},
			steps: []step{{verdict.SessionNotFound, agent.Account{}}, {verdict.Network, idle}, {verdict.OK, idle}},
			turns: []string{"resume 1", "fresh", "fresh"}, class: verdict.OK},
		"an option that is not understood is left out, once": {
			steps: []step{{verdict.InvalidRequest, agent.Account{Misunderstood: true}}, {verdict.InvalidRequest, agent.Account{Misunderstood: true}}},
			turns: []string{"fresh", "fresh plain"}, class: verdict.InvalidRequest},
		"retries that were not told of count": {
			steps: []step{{verdict.ServerError, agent.Account{Session: oneSession, Unseen: 10}}},
			turns: []string{"fresh", "fresh"}, class: verdict.ServerError},
		"strictly, where a number was given": {runner: engine.Runner{Policy: retry.Policy{MaxRetries: 4, CountThrottles: true}},
			steps: []step{{verdict.ServerError, agent.Account{Session: oneSession, Unseen: 10}}},
			turns: []string{"fresh"}, class: verdict.ServerError},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := tt.runner
				r.State, r.LogDir = &state.State{Dir: t.TempDir()}, engine.NoLogDir
				turns := converse(&r, tt.traits, tt.steps...)
				res, _ := r.Run(t.Context(), belaytype.Command{Args: []string{"claude", "-p"}})
				if got := shown(*turns); !slices.Equal(got, tt.turns) || res.Verdict.Class != tt.class {
					t.Errorf("%s after %q, want %s after %q", res.Verdict.Class, got, tt.class, tt.turns)
				}
			})
		})
	}
}

func cost(usd float64) agent.Account {
	return agent.Account{Session: oneSession, Active: true, Turns: 3, Usage: verdict.Usage{InputTokens: 100, OutputTokens: 10, CostUSD: &usd}}
}

func TestTurn_UsageIsThatOfAllAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := engine.Runner{State: &state.State{Dir: t.TempDir()}, Record: engine.Record{LogDir: engine.NoLogDir}}
		total := 0.75
		last := cost(0)
		last.Usage.CostUSD, last.SessionCost = nil, &total // of the session, in which both attempts are
		turns := converse(&r, agent.Info{}, step{verdict.Overloaded, cost(0.25)}, step{verdict.OK, last})
		res, _ := r.Run(t.Context(), belaytype.Command{Args: []string{"claude", "-p"}})
		if u := res.Usage; u.InputTokens != 200 || u.OutputTokens != 20 || u.CostUSD == nil || *u.CostUSD != 0.75 {
			t.Errorf("%+v", u)
		}
		var logged []float64
		for _, e := range entries(t, &r) {
			var u verdict.Usage
			if json.Unmarshal(e.Usage, &u) == nil && u.CostUSD != nil {
				logged = append(logged, *u.CostUSD)
			}
		}
		if !slices.Equal(logged, []float64{0.25, 0.5}) {
			t.Errorf("the log has $%v", logged)
		}
		if second := (*turns)[1]; second.Turns != 3 || second.Spent != 0.25 {
			t.Errorf("%d turns and $%g are used up", second.Turns, second.Spent)
		}
	})
}

// The cost of a session that is resumed is told in all; on record is what this run has added.
func TestTurn_CostOfAResumedSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := engine.Runner{State: &state.State{Dir: t.TempDir()}, Record: engine.Record{LogDir: engine.NoLogDir}}
		converse(&r, agent.Info{}, step{verdict.OK, cost(0.25)})
		r.Run(t.Context(), belaytype.Command{Args: []string{"claude", "-p"}})
		total := 1.0
		more := cost(0)
		more.Usage.CostUSD, more.SessionCost = nil, &total
		r.Resume.Session = belaytype.LastSession
		converse(&r, agent.Info{}, step{verdict.OK, more})
		res, err := r.Run(t.Context(), belaytype.Command{Args: []string{"claude", "-p"}})
		if err != nil || res.Usage.CostUSD == nil || *res.Usage.CostUSD != 0.75 {
			t.Errorf("%+v, %v", res, err)
		}
		log := entries(t, &r)
		if last := log[len(log)-1]; !strings.Contains(string(last.Usage), `"total_cost_usd":0.75`) {
			t.Errorf("the log has %s", last.Usage)
		}
	})
}

// A session that could not be found is none.
func TestTurn_NoSessionOnRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := engine.Runner{State: &state.State{Dir: t.TempDir()}, Resume: belaytype.Resume{Session: otherSession, OrNew: true}, Record: engine.Record{LogDir: engine.NoLogDir}}
		converse(&r, agent.Info{}, step{verdict.SessionNotFound, agent.Account{Session: otherSession}}, step{verdict.OK, cost(0.25)})
		if _, err := r.Run(t.Context(), belaytype.Command{Args: []string{"claude", "-p"}}); err != nil {
			t.Fatal(err)
		}
		for _, e := range entries(t, &r) {
			if e.Session == otherSession {
				t.Errorf("attempt %d is on record with a session that is not there", e.Attempt)
			}
		}
	})
}

func TestTurn_MaxCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := engine.Runner{State: &state.State{Dir: t.TempDir()}, Record: engine.Record{LogDir: engine.NoLogDir}, Limits: engine.Limits{MaxCost: 0.5}}
		turns := converse(&r, agent.Info{}, step{verdict.Overloaded, cost(0.3)})
		res, err := r.Run(t.Context(), belaytype.Command{Args: []string{"claude", "-p"}})
		if len(*turns) != 2 || !isA[*belaytype.MaxCostReached](err) || res.ExitCode != engine.CodeTryLater || !strings.Contains(res.Error, "$0.6000 of $0.5") {
			t.Errorf("%d attempts, exit code %d, %v", len(*turns), res.ExitCode, err)
		}
	})
}

// All processes share ten retries, and one more each minute.
func TestTurn_Budget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, shared := t.TempDir(), &gate.Memory{}
		attempts := 0
		var last error
		for range 6 {
			r := engine.Runner{
				State:     &state.State{Dir: dir},
				Policy:    retry.Policy{MaxRetries: 4, BaseDelay: time.Second, Jitter: retry.NoJitter},
				Admission: engine.Admission{Shared: shared, Gate: belaytype.Gate{Settings: gate.Settings{Breaker: breaker.Settings{Failures: 1000}}}},
				Record:    engine.Record{LogDir: engine.NoLogDir},
			}
			turns := converse(&r, agent.Info{Gate: "claude:host:account"}, step{verdict.BadOutput, agent.Account{}}, step{verdict.Network, agent.Account{}})
			_, last = r.Run(t.Context(), belaytype.Command{Args: []string{"claude", "-p"}})
			attempts += len(*turns)
		}
		// Six runs, and ten retries, and what a minute and a half gives back.
		if attempts < 16 || attempts > 19 || !isA[*belaytype.RetriesSpent](last) || !strings.Contains(last.Error(), "local retry budget") {
			t.Errorf("%d attempts, %v", attempts, last)
		}
	})
}

func TestRunner_SessionThatIsNone(t *testing.T) {
	r := engine.Runner{Profile: &enginetest.Agent{}, State: &state.State{Dir: t.TempDir()}, Resume: belaytype.Resume{Session: "my-session"}}
	var wrong *belaytype.UsageError
	if _, err := r.Prepare(t.Context(), belaytype.Command{Args: []string{"claude", "-p"}}); !errors.As(err, &wrong) {
		t.Error(err)
	}
	r.Resume.Session = belaytype.LastSession
	res, err := r.Run(t.Context(), belaytype.Command{Args: []string{"claude", "-p"}})
	if err == nil || res.ExitCode != engine.CodeUsage || !strings.Contains(res.Error, "no session of claude is on record") {
		t.Errorf("%v, %d", err, res.ExitCode)
	}
}
