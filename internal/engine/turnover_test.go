package engine_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// Each turn of a conversation is on record when it ends, with what it has used itself, and the gate hears of it then: of a throttle
// at once and not again when the process ends, an hour later.
func TestTurnOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := agentRunner(agent.Info{Once: true, Gate: "claude:host", Form: agent.Stream})
		r.State, r.LogDir = runner(t, retry.Policy{}).State, engine.NoLogDir
		used := func(tokens int64, usd float64) json.RawMessage {
			return enginetest.Account(agent.Account{Session: oneSession, Requests: int(tokens / 10), Usage: verdict.Usage{InputTokens: tokens, CostUSD: &usd}})
		}
		turn := func(class verdict.Class, tokens int64, usd float64) enginetest.Step {
			return enginetest.Line(enginetest.Event{Class: class, Hint: 40 * time.Second, Account: used(tokens, usd), Talk: enginetest.Talk{TurnOver: true, Waiting: true}})
		}
		begin := enginetest.Line(enginetest.Event{Session: oneSession})
		load := func(to *gate.State) enginetest.Step {
			return enginetest.Do(func() { *to, _ = r.Shared.Load("claude:host") })
		}
		var throttled, idle gate.State
		var onRecord int
		script(r, steps(0, begin, enginetest.Wait(2*time.Second), turn(verdict.OK, 10, 0.1), enginetest.Wait(10*time.Minute),
			begin, enginetest.Wait(time.Second), turn(verdict.RateLimit, 30, 0.4), load(&throttled), enginetest.Do(func() { onRecord = len(entries(t, r)) }),
			enginetest.Wait(time.Hour), load(&idle)))
		if res, err := r.Run(t.Context(), claude); err == nil || res.Attempts != 1 || res.Usage.InputTokens != 30 {
			t.Errorf("%+v, %v", res, err)
		}
		if left := throttled.Hold.Left(throttled.Hold.Since); left < 40*time.Second || onRecord != 2 {
			t.Errorf("%v of a hold when the turn ended, %d lines on record", left, onRecord)
		}
		if after, _ := r.Shared.Load("claude:host"); after.Hold.Until.After(idle.Hold.Until) {
			t.Errorf("the gate was told again at the end: %+v, before %+v", after.Hold, idle.Hold)
		}
		log := entries(t, r)
		if len(log) != 3 || log[2].Kind != "" {
			t.Fatalf("%+v", log)
		}
		for i, want := range []journal.Entry{
			{Status: journal.Success, ResponseTime: 2, Requests: 1, Detail: json.RawMessage(`{"turn":1}`)},
			{Status: journal.Error, ErrorType: verdict.RateLimit, ResponseTime: 1, Requests: 2, Detail: json.RawMessage(`{"turn":2}`)},
		} {
			got := log[i]
			if got.Kind != journal.Turn || got.Status != want.Status || got.ErrorType != want.ErrorType || got.ResponseTime != want.ResponseTime ||
				got.Requests != want.Requests || !bytes.Equal(got.Detail, want.Detail) || got.Invocation != log[2].Invocation {
				t.Errorf("turn %d: %+v", i+1, got)
			}
		}
		var first, second verdict.Usage
		json.Unmarshal(log[0].Usage, &first)
		json.Unmarshal(log[1].Usage, &second)
		if first.InputTokens != 10 || second.InputTokens != 20 || second.CostUSD == nil || *second.CostUSD < 0.299 || *second.CostUSD > 0.301 {
			t.Errorf("%+v, %+v", first, second)
		}
	})
}

// A caller of a whole stream gets each event when it comes, and the CLI is not stopped in its own retries, which would take away the
// event that ends the stream. They count: there is no attempt on top of them.
func TestWholeStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := agentRunner(agent.Info{Form: agent.Stream})
		r.WholeStream = true
		var out bytes.Buffer
		var early string
		hello, last := enginetest.Event{Session: oneSession}, enginetest.Event{Show: agent.Hold, Class: verdict.Auth}
		retrying := enginetest.Event{Retry: verdict.Auth, Hopeless: true, Wait: time.Second}
		s := script(r, steps(1, enginetest.Line(hello), enginetest.Do(func() { early = out.String() }), enginetest.Line(retrying), enginetest.Wait(time.Second),
			enginetest.Line(retrying), enginetest.Wait(time.Second), enginetest.Line(last)))
		c := claude
		c.Stdout = &out
		res, _ := r.Run(t.Context(), c)
		equal(t, "printed at once", early, said(hello))
		equal(t, "printed", out.String(), said(hello)+said(retrying)+said(retrying)+said(last))
		if res.Verdict.Class != verdict.Auth || len(s.Starts()) != 1 || res.Duration != 2*time.Second {
			t.Errorf("%s after %v and %d starts", res.Verdict.Class, res.Duration, len(s.Starts()))
		}
	})
}

// A conversation with a caller of a whole stream is not kept from starting by a hold: its first lines are no requests, and an SDK gives
// up after a minute without them.
func TestWholeStream_ConversationAtAHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for whole, want := range map[bool]int{true: 1, false: 0} {
			r := agentRunner(agent.Info{Once: true, Gate: "claude:host", Form: agent.Stream})
			r.WholeStream = whole
			r.Shared.Update("claude:host", time.Now(), func(s gate.State) gate.State { return s.Held(time.Now(), time.Now().Add(time.Hour), "lunch") })
			s := script(r, steps(0, enginetest.Line(enginetest.Event{Session: oneSession, Talk: enginetest.Talk{Waiting: true}})))
			if r.Run(t.Context(), claude); len(s.Starts()) != want {
				t.Errorf("whole stream %v: %d starts", whole, len(s.Starts()))
			}
			if after, _ := r.Shared.Load("claude:host"); !after.Hold.Live(time.Now()) {
				t.Errorf("whole stream %v: the hold is gone", whole)
			}
		}
	})
}

// What an agent does on a terminal of its own is read from its record, and no limit on time ends it: it may wait for its user for days.
func TestScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := agentRunner(agent.Info{Once: true, Screen: true})
		r.State, r.LogDir = runner(t, retry.Policy{}).State, engine.NoLogDir
		r.Policy.Timeout, r.Policy.TotalTimeout, r.Stall = time.Minute, time.Hour, time.Minute
		told := []enginetest.Event{
			{Session: oneSession, Answered: true, Turn: &verdict.Usage{InputTokens: 10}},
			{Session: oneSession, Class: verdict.OK, Talk: enginetest.Talk{Waiting: true, TurnOver: true}},
		}
		r.Profile.(*enginetest.Agent).Beside = &enginetest.Beside{Record: func() (e enginetest.Event, ok bool) {
			if len(told) == 0 {
				return e, false
			}
			e, told = told[0], told[1:]
			return e, true
		}}
		var out bytes.Buffer
		script(r, steps(0, enginetest.Print("\x1b[2J"), enginetest.Wait(3*time.Hour)))
		c := claude
		c.Stdout = &out
		res, err := r.Run(t.Context(), c)
		if err != nil || res.Duration != 3*time.Hour || out.String() != "\x1b[2J" {
			t.Errorf("%v after %v, %q", err, res.Duration, out.String())
		}
		log := entries(t, r)
		if len(log) != 2 || log[0].Kind != journal.Turn || log[1].Session != oneSession {
			t.Errorf("%+v", log)
		}
	})
}
