package engine

import (
	"errors"
	"sync"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
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

// enterScope makes the call the only one of a scope, for as long as it holds the slot. A scope that cannot be had for
// trouble with its store is not in force.
func enterScope(c *call, p *pace, key string) (*gate.Slot, *refusal) {
	if key == "" || c.scopes == nil {
		return nil, nil
	}
	busy := c.runner.OnBusy
	announced, asked := false, map[string]bool{}
	for looks := 1; ; looks++ {
		slot, err := c.scopes.Take(key, 1, c.id)
		if err == nil {
			if announced {
				c.emit(belaytype.WaitOver{})
				c.live.update(supervise.StateRunning, 1, "", time.Time{})
			}
			return slot, nil
		}
		if !errors.Is(err, gate.ErrFull) {
			c.emit(belaytype.ScopeTrouble{Key: key, Err: err})
			return nil, nil
		}
		holders := c.scopes.Holders(key)
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
				c.live.update(supervise.StateWaiting, 1, message.ScopeState(key), time.Time{})
				c.emit(belaytype.ScopeBusy{Key: key, Holders: holders, Replaced: busy == BusyReplace})
			}
			err = p.sleepAtGate(d, nil)
		}
		if err != nil {
			if _, ok := errors.AsType[*retry.Error](err); !ok {
				return nil, p.cutShort(c, err)
			}
			taken := &belaytype.ScopeTaken{Key: key, Holders: holders}
			said := &NotAdmitted{Cause: taken, Late: c.tooLate(time.Time{})}
			if busy == BusyFail {
				said.Late = &TooLate{Busy: true}
			}
			return nil, &refusal{code: -1, message: c.causeText(said), stop: &retry.Error{Cause: taken},
				verdict: verdict.Verdict{Class: verdict.SessionBusy, Rule: "scope", Sent: verdict.SentNo, Evidence: message.ScopeState(key)}}
		}
	}
}

// replace asks the runs that hold a scope to stop, each once. A run of this process is cancelled: a signal would end the
// process.
func replace(c *call, holders []string, asked map[string]bool) {
	for _, id := range holders {
		if inv, here := underWay.Load(id); here && !asked[id] {
			asked[id] = true
			inv.(interface{ Cancel(error) }).Cancel(&belaytype.Replaced{By: c.id})
		}
	}
	if c.state == nil {
		return
	}
	runs, err := c.state.Records().List()
	if err != nil {
		return
	}
	for _, id := range holders {
		for _, r := range runs {
			if r.ID == id && !asked[id] {
				asked[id] = true
				r.RequestStop(supervise.StopRequest{Run: c.id})
			}
		}
	}
}

// underWay are the invocations of this process, by their ids.
var underWay sync.Map
