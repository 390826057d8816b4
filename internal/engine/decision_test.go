package engine_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// beside plays what is asked on the side by another script.
type beside struct {
	*enginetest.Script
	side *enginetest.Script
}

func (b beside) Run(spec supervise.Spec, started func(engine.Process)) (supervise.Exit, error) {
	if spec.Args[1] == "api" || spec.Args[1] == "issue" {
		return b.side.Run(spec, started)
	}
	return b.Script.Run(spec, started)
}

var gh = belaytype.Command{Args: []string{"gh", "pr", "create"}}

// calls scripts a caller that fails with these words on stderr, the last one for ever; an empty one is a success that prints
// done. side is what it is asked meanwhile.
func calls(r *engine.Runner, profile *enginetest.Caller, side enginetest.Attempt, failures ...string) beside {
	b := beside{&enginetest.Script{}, &enginetest.Script{Attempts: []enginetest.Attempt{side}}}
	for _, words := range failures {
		one := steps(1, enginetest.Complain("* POST\n"), enginetest.Complain(words+"\n"))
		if words == "" {
			one = steps(0, enginetest.Complain("* POST\n"), enginetest.Print("done\n"))
		}
		b.Attempts = append(b.Attempts, one)
	}
	r.Profile, r.Starter = profile, b
	return b
}

// A failure that leaves open whether the command has changed something is not simply repeated.
func TestDecision_Effects(t *testing.T) {
	changes := agent.CallerInfo{Changes: true}
	for name, tt := range map[string]struct {
		habits   agent.CallerInfo
		blind    bool
		effects  belaytype.Effects
		done     agent.Effect
		fails    error
		side     enginetest.Attempt
		failures []string
		starts   int
		asked    int
		success  bool
		unknown  *belaytype.EffectUnknown // what is said of it; nil if it is not open
		output   string
	}{
		"what changes nothing is repeated":    {failures: []string{"network", ""}, starts: 2, success: true, output: "done\n"},
		"what was not sent is repeated":       {habits: changes, failures: []string{"network unsent", ""}, starts: 2, success: true, output: "done\n"},
		"what may have been done is not":      {habits: changes, blind: true, failures: []string{"network"}, starts: 1, unknown: &belaytype.EffectUnknown{}},
		"unless that was asked for":           {habits: changes, effects: belaytype.Effects{Repeat: true, Verify: true}, failures: []string{"network", ""}, starts: 2, success: true, output: "done\n"},
		"a throttle leaves it open too":       {habits: changes, failures: []string{"rate_limit"}, starts: 1, asked: 1, unknown: &belaytype.EffectUnknown{Verifiable: true}},
		"what is not worth it leaves it so":   {habits: changes, failures: []string{"auth"}, starts: 1},
		"it could be found out":               {habits: changes, failures: []string{"network"}, starts: 1, unknown: &belaytype.EffectUnknown{Verifiable: true}},
		"it cannot be found out":              {habits: changes, blind: true, effects: belaytype.Effects{Verify: true}, failures: []string{"network"}, starts: 1, unknown: &belaytype.EffectUnknown{Asked: true}},
		"it was done":                         {habits: changes, effects: belaytype.Effects{Verify: true}, done: agent.Effect{Done: true, Output: "https://pr/7\n"}, failures: []string{"network"}, starts: 1, asked: 1, success: true, output: "https://pr/7\n"},
		"it was not":                          {habits: changes, effects: belaytype.Effects{Verify: true}, failures: []string{"network", ""}, starts: 2, asked: 1, success: true, output: "done\n"},
		"the answer is not clear":             {habits: changes, effects: belaytype.Effects{Verify: true}, fails: errBroken, failures: []string{"network"}, starts: 1, asked: 1, unknown: &belaytype.EffectUnknown{Verifiable: true, Asked: true, Err: errBroken}},
		"the question fails":                  {habits: changes, effects: belaytype.Effects{Verify: true}, side: enginetest.Attempt{Code: 4, Left: []supervise.Proc{{PID: 7}}, Steps: []enginetest.Step{enginetest.Complain("no such\nrepository\n")}}, failures: []string{"network"}, starts: 1, asked: 1, unknown: &belaytype.EffectUnknown{Verifiable: true, Asked: true, Err: errors.New("gh issue: repository")}},
		"the question is not answered":        {habits: changes, effects: belaytype.Effects{Verify: true}, side: steps(0, enginetest.Hang()), failures: []string{"network"}, starts: 1, asked: 1, unknown: &belaytype.EffectUnknown{Verifiable: true, Asked: true, Err: errors.New("gh issue did not answer")}},
		"the question cannot even be started": {habits: changes, effects: belaytype.Effects{Verify: true}, side: enginetest.Attempt{Err: syscall.EAGAIN}, failures: []string{"network"}, starts: 1, asked: 1, unknown: &belaytype.EffectUnknown{Verifiable: true, Asked: true, Err: syscall.EAGAIN}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := runner(t, retry.Policy{})
				r.Effects = tt.effects
				w := observe(r)
				s := calls(r, &enginetest.Caller{Facts: tt.habits, Blind: tt.blind, Done: &tt.done, Fails: tt.fails}, tt.side, tt.failures...)
				var out bytes.Buffer
				c := gh
				c.Stdout = &out
				res, err := r.Run(t.Context(), c)
				if res.Success != tt.success || len(s.Starts()) != tt.starts || len(s.side.Starts()) != tt.asked || res.Requests != tt.starts+tt.asked || out.String() != tt.output {
					t.Errorf("%d starts, asked %d times, %d requests, printed %q: %v", len(s.Starts()), len(s.side.Starts()), res.Requests, &out, err)
				}
				unknown, open := errors.AsType[*belaytype.EffectUnknown](err)
				if open != (tt.unknown != nil) || open != res.MayBeDone || open != errors.Is(err, belaytype.ErrMayBeDone) {
					t.Fatalf("%v, may be done: %v", err, res.MayBeDone)
				}
				if open {
					if unknown.Verifiable != tt.unknown.Verifiable || unknown.Asked != tt.unknown.Asked || (unknown.Err == nil) != (tt.unknown.Err == nil) || res.ExitCode != 1 {
						t.Errorf("exit code %d, %+v", res.ExitCode, unknown)
					}
					contains(t, res.Error, "The change may already have been made, so it was not repeated", "Check first")
				}
				if open && unknown.Err != nil {
					if unknown.Err.Error() != tt.unknown.Err.Error() || !errors.Is(err, unknown.Err) {
						t.Errorf("%v, want %v", unknown.Err, tt.unknown.Err)
					}
					contains(t, res.Error, "and a check failed: "+tt.unknown.Err.Error())
				}
				if found := all[belaytype.FoundDone](w); (len(found) == 1) != tt.done.Done || tt.done.Done && (found[0].Output != tt.output || res.Verdict.Rule != "verify-effect" || res.Verdict.Sent != verdict.SentYes) {
					t.Errorf("told %+v, %+v", found, res.Verdict)
				}
			})
		})
	}
}

// An attempt that did not end by itself leaves open whether it had its effect.
func TestDecision_EffectOfAStoppedAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{RetryTimeouts: 1})
		r.Profile = &enginetest.Caller{Facts: agent.CallerInfo{Changes: true, Deadline: 20 * time.Second}}
		s := script(r, steps(0, enginetest.Hang()))
		res, err := r.Run(t.Context(), gh)
		if len(s.Starts()) != 1 || res.Verdict.Sent != verdict.SentMaybe || !errors.Is(err, belaytype.ErrMayBeDone) || res.Duration != 20*time.Second {
			t.Errorf("%d starts, %+v after %v: %v", len(s.Starts()), res.Verdict, res.Duration, err)
		}
	})
}

// A limit that was not told of is asked for, once.
func TestDecision_CheckLimit(t *testing.T) {
	for name, tt := range map[string]struct {
		buffer time.Duration
		limit  func() verdict.Hint
		side   enginetest.Attempt
		waits  func(time.Duration) bool
	}{
		"it is waited for, and a little longer": {limit: func() verdict.Hint { return verdict.Hint{At: time.Now().Add(time.Minute)} }, waits: func(d time.Duration) bool { return d >= 65*time.Second && d < 75*time.Second }},
		"without a buffer":                      {buffer: -1, limit: func() verdict.Hint { return verdict.Hint{At: time.Now().Add(time.Minute)} }, waits: func(d time.Duration) bool { return d >= time.Minute && d < 67*time.Second }},
		"with a buffer of the caller's":         {buffer: 30 * time.Second, limit: func() verdict.Hint { return verdict.Hint{At: time.Now().Add(time.Minute)} }, waits: func(d time.Duration) bool { return d >= 90*time.Second && d < 101*time.Second }},
		"it could not be found out":             {limit: func() verdict.Hint { return verdict.Hint{} }, side: steps(1), waits: func(d time.Duration) bool { return d < 5*time.Second }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := runner(t, retry.Policy{})
				r.LimitBuffer = tt.buffer
				s := calls(r, &enginetest.Caller{Limit: tt.limit()}, tt.side, "rate_limit", "rate_limit", "")
				res, err := r.Run(t.Context(), gh)
				if err != nil || len(s.Starts()) != 3 || len(s.side.Starts()) != 1 || res.Requests != 4 || !tt.waits(s.Gaps()[0]) {
					t.Errorf("waited %v, asked %d times: %v", s.Gaps(), len(s.side.Starts()), err)
				}
				if log := entries(t, r); log[0].Requests != 2 || log[1].Requests != 1 {
					t.Errorf("on record: %+v", log)
				}
			})
		})
	}
}

// A limit that the CLI itself tells of needs no question.
func TestDecision_UsageLimitWithAHint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := agentRunner(agent.Info{})
		s := script(r, steps(1, enginetest.Line(enginetest.Event{Class: verdict.UsageLimit, Hint: 3 * time.Minute})), steps(0))
		if _, err := r.Run(t.Context(), claude); err != nil || s.Gaps()[0] < 3*time.Minute || s.Gaps()[0] > 3*time.Minute+11*time.Second {
			t.Errorf("waited %v: %v", s.Gaps(), err)
		}
		r.Policy.MaxWait = time.Minute
		script(r, steps(1, enginetest.Line(enginetest.Event{Class: verdict.UsageLimit, Hint: 3 * time.Minute})))
		res, err := r.Run(t.Context(), claude)
		if !errors.Is(err, retry.ErrMaxWait) || res.ExitCode != engine.CodeTryLater || res.RetryAt.IsZero() || !strings.HasSuffix(res.Error, "retry later") {
			t.Errorf("exit code %d, %v", res.ExitCode, err)
		}
	})
}

// A turn that cannot be planned is not begun.
func TestDecision_NoPlan(t *testing.T) {
	for name, tt := range map[string]struct {
		err   error
		code  int
		class verdict.Class
	}{"it cannot work": {enginetest.ErrNoPlan, engine.CodeUsage, verdict.TooLarge}, "nothing is left": {enginetest.ErrUsedUp, 1, verdict.LimitReached}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := agentRunner(agent.Info{})
				r.Profile.(*enginetest.Agent).Refuse = func(agent.Turn) error { return tt.err }
				s := script(r, steps(0))
				res, err := r.Run(t.Context(), claude)
				if err == nil || len(s.Starts()) != 0 || res.ExitCode != tt.code || res.Verdict.Class != tt.class || res.Error != tt.err.Error() {
					t.Errorf("exit code %d, %+v: %v", res.ExitCode, res.Verdict, err)
				}
				inv, err := r.Prepare(t.Context(), claude)
				must.OK(t, err)
				if _, err := inv.Preview(); !errors.Is(err, tt.err) {
					t.Errorf("previewed: %v", err)
				}
			})
		})
	}
}

// A session that would have to go on and cannot with this command line ends the run with its failure.
func TestDecision_SessionCannotGoOn(t *testing.T) {
	for name, tt := range map[string]struct {
		err   error
		class verdict.Class
		text  string
	}{
		"it cannot work":  {enginetest.ErrNoPlan, verdict.Overloaded, "The prompt is too long; retry later"},
		"nothing is left": {enginetest.ErrUsedUp, verdict.LimitReached, "--max-turns is used up by the attempts so far"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := agentRunner(agent.Info{})
				r.Profile.(*enginetest.Agent).Refuse = func(turn agent.Turn) error {
					if turn.Continue {
						return tt.err
					}
					return nil
				}
				s := script(r, steps(1, enginetest.Line(enginetest.Event{Class: verdict.Overloaded, Account: enginetest.Account(agent.Account{Session: oneSession, Active: true})})))
				res, err := r.Run(t.Context(), claude)
				if err == nil || len(s.Starts()) != 1 || res.Attempts != 1 || res.Verdict.Class != tt.class {
					t.Errorf("%d starts, %d attempts, %s: %v", len(s.Starts()), res.Attempts, res.Verdict.Class, err)
				}
				contains(t, res.Error, tt.text)
			})
		})
	}
}

// The codes to end with.
func TestDecision_ExitCodes(t *testing.T) {
	for name, tt := range map[string]struct {
		profile agent.Profile
		policy  retry.Policy
		class   verdict.Class
		own     int
		code    int
	}{
		"a plain command keeps its own":                  {class: verdict.Auth, own: 4, code: 4},
		"but never a lying 0":                            {class: verdict.Auth, own: 0, code: 1},
		"nor one of an interruption":                     {class: verdict.Interrupted, own: 0, code: 1},
		"an interruption keeps its own":                  {class: verdict.Interrupted, own: 130, code: 130},
		"a person must act":                              {profile: &enginetest.Agent{}, class: verdict.Auth, own: 1, code: engine.CodePersonMustAct},
		"a person must pay":                              {profile: &enginetest.Agent{}, class: verdict.Billing, own: 1, code: engine.CodePersonMustAct},
		"a limit":                                        {profile: &enginetest.Agent{}, class: verdict.UsageLimit, own: 1, code: engine.CodeTryLater},
		"another may have the session":                   {profile: &enginetest.Agent{}, policy: retry.Policy{MaxRetries: retry.None}, class: verdict.SessionBusy, own: 1, code: engine.CodeTryLater},
		"anything else keeps its own":                    {profile: &enginetest.Agent{}, class: verdict.InvalidRequest, own: 5, code: 5},
		"a failure that ends with 0":                     {profile: &enginetest.Agent{}, class: verdict.Blocked, own: 0, code: 1},
		"the own one, where no retries at all are asked": {profile: &enginetest.Agent{}, policy: retry.Policy{MaxRetries: retry.None, CountThrottles: true}, class: verdict.Auth, own: 6, code: 6},
		"a stall": {profile: &enginetest.Agent{}, policy: retry.Policy{MaxRetries: retry.None}, class: verdict.Stalled, own: 1, code: engine.CodeTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, ownCode := range []bool{false, true} {
					r := runner(t, tt.policy)
					r.Profile, r.LogDir, r.OwnCode = tt.profile, engine.NoLogDir, ownCode
					r.Judge = func(verdict.Verdict, verdict.Outcome, time.Time) verdict.Verdict { return of(tt.class) }
					script(r, steps(tt.own))
					res, _ := r.Run(t.Context(), tool)
					if res.ExitCode != tt.code || res.ChildCode != tt.own || engine.OwnCode(res) != tt.own {
						t.Errorf("exit code %d, own %d", res.ExitCode, engine.OwnCode(res))
					}
					want := tt.code
					if ownCode {
						want = tt.own
					}
					equal(t, "on record", *entries(t, r)[0].BelayCode, want)
				}
			})
		})
	}
	interrupted := verdict.Verdict{Class: verdict.Interrupted}
	for _, tt := range []struct {
		res  belaytype.Result
		want int
	}{
		{belaytype.Result{Verdict: interrupted, ChildCode: 130, ExitCode: 143}, 143}, // by the SIGINT that we have sent for a SIGTERM
		{belaytype.Result{Verdict: interrupted, ChildCode: 130, ExitCode: 129}, 129},
		{belaytype.Result{Verdict: interrupted, ChildCode: 143, ExitCode: 129}, 129},
		{belaytype.Result{Verdict: interrupted, ChildCode: 130, ExitCode: 130}, 130},
		{belaytype.Result{Verdict: interrupted, ChildCode: 130, ExitCode: 1}, 130},
		{belaytype.Result{Verdict: interrupted, ChildCode: 7, ExitCode: 143}, 7},
		{belaytype.Result{ChildCode: 130, ExitCode: 143}, 130},
	} {
		if got := engine.OwnCode(&tt.res); got != tt.want {
			t.Errorf("%+v: %d", tt.res, got)
		}
	}
	if res := (&belaytype.Result{ChildCode: -1, ExitCode: 75}); engine.OwnCode(res) != 75 {
		t.Error("a command that never ran has no code of its own")
	}
}

// What is said of a wait to come: which retry it is, and of how many.
func TestDecision_WaitingSaysWhichRetry(t *testing.T) {
	for name, tt := range map[string]struct {
		policy retry.Policy
		class  verdict.Class
		took   time.Duration
		want   [][2]int
	}{
		"of those that are left":    {policy: retry.Policy{MaxRetries: 2}, class: verdict.Network, want: [][2]int{{1, 2}, {2, 2}}},
		"of one, for some classes":  {policy: retry.Policy{MaxRetries: 4}, class: verdict.BadOutput, want: [][2]int{{1, 1}}},
		"of those after a timeout":  {policy: retry.Policy{MaxRetries: 4, RetryTimeouts: 1, Timeout: time.Second}, class: verdict.Network, took: 2 * time.Second, want: [][2]int{{1, 1}}},
		"throttles are not counted": {policy: retry.Policy{MaxRetries: 1, MaxWait: 5 * time.Second, BaseDelay: 2 * time.Second}, class: verdict.RateLimit, want: [][2]int{{1, 0}}},
		"unless a number was given": {policy: retry.Policy{MaxRetries: 2, CountThrottles: true}, class: verdict.RateLimit, want: [][2]int{{1, 2}, {2, 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tt.policy.Jitter = retry.NoJitter
				r := runner(t, tt.policy)
				w := observe(r)
				play(r, tt.took, of(tt.class))
				r.Run(t.Context(), tool)
				var got [][2]int
				for _, e := range all[belaytype.Waiting](w) {
					got = append(got, [2]int{e.Retry, e.Of})
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("told %v, want %v", got, tt.want)
				}
				failed := all[belaytype.AttemptFailed](w)
				if len(failed) != len(got) {
					t.Errorf("%d failures and %d waits", len(failed), len(got))
				}
				if log := entries(t, r); log[len(log)-1].Status == journal.Retry {
					t.Errorf("on record: %+v", log)
				}
			})
		})
	}
}

// A failed attempt's own words can be shown.
func TestDecision_StderrOfAFailedAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{MaxRetries: 1})
		script(r, steps(1, enginetest.Complain("no luck\n")), steps(0))
		seen := ""
		r.Observe = func(e belaytype.Event) {
			if failed, ok := e.(belaytype.AttemptFailed); ok {
				seen = failed.Stderr.String()
			}
		}
		r.Run(t.Context(), tool)
		equal(t, "stderr", seen, "no luck\n")
	})
}
