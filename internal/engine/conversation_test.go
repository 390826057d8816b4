package engine

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// talker is an agent that is never started: these tests are about the turns between the attempts. The real CLIs are
// tried in e2e.
type talker struct{ traits agent.Traits }

func (talker) Name() string                                         { return "claude" }
func (talker) Headless() bool                                       { return true }
func (talker) Reads() bool                                          { return true }
func (talker) Judge(verdict.Outcome, time.Time) (v verdict.Verdict) { return v }
func (t talker) Traits() agent.Traits                               { return t.traits }
func (talker) Plan(agent.Turn) (p agent.Plan, err error)            { return p, nil }
func (talker) Follow(agent.Plan) (f agent.Follower)                 { return f }

const (
	oneSession   = "01234567-89ab-4def-8123-456789abcdef"
	otherSession = "11234567-89ab-4def-8123-456789abcdef"
)

// step is an attempt: how it ends, and what it has done.
type step struct {
	class   verdict.Class
	account agent.Account
}

// converse plays the steps, and returns the turns that the attempts were asked to do.
func converse(r *Runner, steps ...step) *[]agent.Turn {
	var turns []agent.Turn
	r.attempt = func(inv *Invocation, n int) attempt {
		turns = append(turns, inv.talk.turn)
		inv.nextSession()
		s := steps[min(n, len(steps))-1]
		a := attempt{started: true, again: true, verdict: of(s.class), account: s.account, message: string(s.class), exit: supervise.Exit{Duration: time.Second}}
		if s.class != verdict.OK {
			a.code = 1
		}
		return a
	}
	return &turns
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

func TestConversation_Turns(t *testing.T) {
	idle := agent.Account{Session: oneSession}
	busy := agent.Account{Session: oneSession, Active: true}
	tests := map[string]struct {
		runner Runner
		traits agent.Traits
		steps  []step
		turns  []string
		class  verdict.Class
	}{
		"what has done nothing begins anew": {
			steps: []step{{verdict.Overloaded, idle}, {verdict.OK, idle}}, turns: []string{"fresh", "fresh"}, class: verdict.OK},
		"what has done something goes on": {
			steps: []step{{verdict.Overloaded, busy}, {verdict.Overloaded, idle}, {verdict.OK, busy}},
			turns: []string{"fresh", "continue 0", "continue 0"}, class: verdict.OK},
		"unless nobody wants that": {runner: Runner{Resume: Resume{Never: true}},
			steps: []step{{verdict.Overloaded, busy}, {verdict.OK, busy}}, turns: []string{"fresh", "fresh"}, class: verdict.OK},
		"a session that is gone is begun anew, at no cost": {
			steps: []step{{verdict.Overloaded, busy}, {verdict.SessionNotFound, agent.Account{}}, {verdict.OK, busy}},
			turns: []string{"fresh", "continue 0", "fresh"}, class: verdict.OK},
		"a name cannot be given twice": {traits: agent.Traits{Fixed: oneSession},
			steps: []step{{verdict.Overloaded, idle}, {verdict.OK, idle}}, turns: []string{"fresh", "continue 0"}, class: verdict.OK},
		"a session that was asked for": {runner: Runner{Resume: Resume{Session: otherSession}},
			steps: []step{{verdict.Network, idle}, {verdict.OK, idle}}, turns: []string{"resume 1", "resume 1"}, class: verdict.OK},
		"one that is not there": {runner: Runner{Resume: Resume{Session: otherSession}},
			steps: []step{{verdict.SessionNotFound, idle}}, turns: []string{"resume 1"}, class: verdict.SessionNotFound},
		"one that is not there, or a new one": {runner: Runner{Resume: Resume{Session: otherSession, OrNew: true}},
			steps: []step{{verdict.SessionNotFound, agent.Account{}}, {verdict.Network, idle}, {verdict.OK, idle}},
			turns: []string{"resume 1", "fresh", "fresh"}, class: verdict.OK},
		"an option that is not understood is left out, once": {
			steps: []step{{verdict.InvalidRequest, agent.Account{Misunderstood: true}}, {verdict.InvalidRequest, agent.Account{Misunderstood: true}}},
			turns: []string{"fresh", "fresh plain"}, class: verdict.InvalidRequest},
		"retries that were not told of count": {
			steps: []step{{verdict.ServerError, agent.Account{Session: oneSession, Unseen: 10}}},
			turns: []string{"fresh", "fresh"}, class: verdict.ServerError},
		"strictly, where a number was given": {runner: Runner{Policy: retry.Policy{MaxRetries: 4, CountThrottles: true}},
			steps: []step{{verdict.ServerError, agent.Account{Session: oneSession, Unseen: 10}}},
			turns: []string{"fresh"}, class: verdict.ServerError},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := tt.runner
				r.Profile, r.StateDir, r.LogDir = talker{tt.traits}, t.TempDir(), t.TempDir()
				turns := converse(&r, tt.steps...)
				res, _ := r.Run(t.Context(), Command{Args: []string{"claude", "-p"}})
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

func TestConversation_UsageIsThatOfAllAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := Runner{Profile: talker{}, StateDir: t.TempDir(), LogDir: t.TempDir()}
		total := 0.75
		last := cost(0)
		last.Usage.CostUSD, last.SessionCost = nil, &total // of the session, in which both attempts are
		turns := converse(&r, step{verdict.Overloaded, cost(0.25)}, step{verdict.OK, last})
		res, _ := r.Run(t.Context(), Command{Args: []string{"claude", "-p"}})
		if u := res.Usage; u.InputTokens != 200 || u.OutputTokens != 20 || u.CostUSD == nil || *u.CostUSD != 0.75 {
			t.Errorf("%+v", u)
		}
		var logged []float64
		for _, e := range logOf(t, r.StateDir) {
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
func TestConversation_CostOfAResumedSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := Runner{Profile: talker{}, StateDir: t.TempDir(), LogDir: t.TempDir()}
		converse(&r, step{verdict.OK, cost(0.25)})
		r.Run(t.Context(), Command{Args: []string{"claude", "-p"}})
		total := 1.0
		more := cost(0)
		more.Usage.CostUSD, more.SessionCost = nil, &total
		r.Resume.Session = LastSession
		converse(&r, step{verdict.OK, more})
		res, err := r.Run(t.Context(), Command{Args: []string{"claude", "-p"}})
		if err != nil || res.Usage.CostUSD == nil || *res.Usage.CostUSD != 0.75 {
			t.Errorf("%+v, %v", res, err)
		}
		log := logOf(t, r.StateDir)
		if last := log[len(log)-1]; !strings.Contains(string(last.Usage), `"total_cost_usd":0.75`) {
			t.Errorf("the log has %s", last.Usage)
		}
	})
}

// A session that could not be found is none.
func TestConversation_NoSessionOnRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := Runner{Profile: talker{}, StateDir: t.TempDir(), LogDir: t.TempDir(), Resume: Resume{Session: otherSession, OrNew: true}}
		converse(&r, step{verdict.SessionNotFound, agent.Account{}}, step{verdict.OK, cost(0.25)})
		attempts := r.attempt
		r.attempt = func(inv *Invocation, n int) attempt {
			a := attempts(inv, n)
			if a.verdict.Class == verdict.SessionNotFound {
				a.verdict.SessionID = otherSession // claude names the one that it could not find
			}
			return a
		}
		if _, err := r.Run(t.Context(), Command{Args: []string{"claude", "-p"}}); err != nil {
			t.Fatal(err)
		}
		for _, e := range logOf(t, r.StateDir) {
			if e.Session == otherSession {
				t.Errorf("attempt %d is on record with a session that is not there", e.Attempt)
			}
		}
	})
}

// logOf is what the log of a state directory has.
func logOf(t *testing.T, dir string) (list []journal.Entry) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "log.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if l := journal.Parse([]byte(line)); l.Entry != nil {
			list = append(list, *l.Entry)
		}
	}
	return list
}

func TestConversation_MaxCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := Runner{Profile: talker{}, StateDir: t.TempDir(), LogDir: t.TempDir(), MaxCost: 0.5}
		turns := converse(&r, step{verdict.Overloaded, cost(0.3)})
		res, err := r.Run(t.Context(), Command{Args: []string{"claude", "-p"}})
		if len(*turns) != 2 || !errors.Is(err, ErrMaxCost) || res.ExitCode != CodeTryLater || !strings.Contains(res.Err, "$0.6000 of $0.5") {
			t.Errorf("%d attempts, exit code %d, %v", len(*turns), res.ExitCode, err)
		}
	})
}

// All processes share ten retries, and one more each minute.
func TestConversation_Budget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := t.TempDir()
		attempts := 0
		var last error
		for range 6 {
			r := Runner{Profile: talker{agent.Traits{Gate: "claude:host:account"}}, StateDir: state, LogDir: state,
				Policy: retry.Policy{MaxRetries: 4, BaseDelay: time.Second, Jitter: retry.NoJitter}}
			turns := converse(&r, step{verdict.BadOutput, agent.Account{}}, step{verdict.Network, agent.Account{}})
			_, last = r.Run(t.Context(), Command{Args: []string{"claude", "-p"}})
			attempts += len(*turns)
		}
		// Six runs, and ten retries, and what a minute and a half gives back.
		if attempts < 16 || attempts > 19 || !errors.Is(last, ErrBudget) || !strings.Contains(last.Error(), "local retry budget") {
			t.Errorf("%d attempts, %v", attempts, last)
		}
	})
}

func TestState_LastSession(t *testing.T) {
	s := &State{Dir: t.TempDir()}
	at := time.Now()
	for i, one := range []Session{
		{Profile: "claude", ID: oneSession, Dir: "/a", Updated: at},
		{Profile: "claude", ID: otherSession, Dir: "/a", Updated: at.Add(time.Second)},
		{Profile: "codex", ID: oneSession, Dir: "/a", Updated: at.Add(time.Minute)},
		{Profile: "claude", ID: strings.Replace(oneSession, "0", "2", 1), Dir: "/b", Updated: at.Add(time.Minute)},
		{Profile: "claude", ID: "../../etc/passwd", Dir: "/a", Updated: at.Add(time.Hour)},
	} {
		if err := s.SaveSession(one); err != nil {
			t.Fatal(i, err)
		}
	}
	last, ok := s.LastSession("claude", "/a")
	if !ok || last.ID != otherSession {
		t.Errorf("%+v, %v", last, ok)
	}
	if _, ok := s.LastSession("claude", "/c"); ok {
		t.Error("there is one where there is none")
	}
}

func TestRunner_SessionThatIsNone(t *testing.T) {
	r := Runner{Profile: talker{}, StateDir: t.TempDir(), Resume: Resume{Session: "my-session"}}
	var wrong *UsageError
	if _, err := r.Prepare(t.Context(), Command{Args: []string{"claude", "-p"}}); !errors.As(err, &wrong) {
		t.Error(err)
	}
	r.Resume.Session = LastSession
	res, err := r.Run(t.Context(), Command{Args: []string{"claude", "-p"}})
	if err == nil || res.ExitCode != CodeUsage || !strings.Contains(res.Err, "no session of claude on record") {
		t.Errorf("%v, %d", err, res.ExitCode)
	}
}
