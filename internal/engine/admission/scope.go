package admission

import (
	"errors"
	"sync"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

const (
	BusyWait    belaytype.OnBusy = "wait"    // within the longest wait; the default
	BusyReplace belaytype.OnBusy = "replace" // end the run that has it
	BusyFail    belaytype.OnBusy = "fail"
)

// EnterScope makes the call the only one of a scope, for as long as it holds the slot. A scope that cannot be had for
// trouble with its store is not in force.
func EnterScope(c *call.Call, p *Pace, key string) (*gate.Slot, *Refusal) {
	if key == "" || c.Scopes == nil {
		return nil, nil
	}
	busy := c.Settings.OnBusy
	announced, asked := false, map[string]bool{}
	for looks := 1; ; looks++ {
		slot, err := c.Scopes.Take(key, 1, c.ID)
		if err == nil {
			if announced {
				c.Emit(belaytype.WaitOver{})
				c.Live.Update(supervise.StateRunning, 1, "", time.Time{})
			}
			return slot, nil
		}
		if !errors.Is(err, gate.ErrFull) {
			c.Emit(belaytype.ScopeTrouble{Key: key, Err: err})
			return nil, nil
		}
		holders := c.Scopes.Holders(key)
		if busy == BusyReplace {
			replace(c, holders, asked)
		}
		var d time.Duration
		err = &retry.Error{Cause: retry.ErrMaxWait}
		if busy != BusyFail {
			d, err = p.pollInterval(&gate.Refusal{}, looks, false)
		}
		if err == nil {
			if !announced {
				announced = true
				c.Live.Update(supervise.StateWaiting, 1, message.ScopeState(key), time.Time{})
				c.Emit(belaytype.ScopeBusy{Key: key, Holders: holders, Replaced: busy == BusyReplace})
			}
			err = p.sleepAtGate(d, nil)
		}
		if err != nil {
			if _, ok := errors.AsType[*retry.Error](err); !ok {
				return nil, p.CutShort(c, err)
			}
			taken := &belaytype.ScopeTaken{Key: key, Holders: holders}
			said := &call.NotAdmitted{Cause: taken, Late: c.TooLate(time.Time{})}
			if busy == BusyFail {
				said.Late = &call.TooLate{Busy: true}
			}
			return nil, &Refusal{Code: -1, Message: c.CauseText(said), Stop: &retry.Error{Cause: taken},
				Verdict: verdict.Verdict{Class: verdict.SessionBusy, Rule: "scope", Sent: verdict.SentNo, Evidence: message.ScopeState(key)}}
		}
	}
}

// replace asks the runs that hold a scope to stop, each once. A run of this process is cancelled: a signal would end the
// process.
func replace(c *call.Call, holders []string, asked map[string]bool) {
	for _, id := range holders {
		if inv, here := underWay.Load(id); here && !asked[id] {
			asked[id] = true
			inv.(interface{ Cancel(cause error) }).Cancel(&belaytype.Replaced{By: c.ID})
		}
	}
	if c.State == nil {
		return
	}
	runs, err := c.State.Records().List()
	if err != nil {
		return
	}
	for _, id := range holders {
		for _, r := range runs {
			if r.ID == id && !asked[id] {
				asked[id] = true
				r.RequestStop(supervise.StopRequest{Run: c.ID})
			}
		}
	}
}

// underWay are the invocations of this process, by their ids.
var underWay sync.Map

// Begin says that an invocation of this process is under way, until end is called: one that takes its scope cancels it.
func Begin(id string, invocation interface{ Cancel(cause error) }) (end func()) {
	underWay.Store(id, invocation)
	return func() { underWay.Delete(id) }
}
