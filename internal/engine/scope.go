package engine

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// OnBusy says what to do when a scope is taken.
type OnBusy string

const (
	BusyWait    OnBusy = "wait"    // within the longest wait; the default
	BusyReplace OnBusy = "replace" // end the run that has it
	BusyFail    OnBusy = "fail"
)

func (s *State) scopes() gate.Slots {
	return gate.Slots{Dir: filepath.Join(s.Dir, "scopes"), Fleeting: true}
}

// enterScope makes this the only run of a scope, for as long as it lasts.
func (inv *Invocation) enterScope(key string, busy OnBusy) (*gate.Slot, *attempt) {
	if key == "" || inv.state == nil {
		return nil, nil
	}
	announced, asked, looks := false, map[string]bool{}, 0
	for {
		slot, err := inv.state.scopes().Take(key, 1, inv.id)
		if err == nil {
			if announced {
				inv.waited(1)
			}
			return slot, nil
		}
		if !errors.Is(err, gate.ErrFull) {
			inv.observe(ScopeTrouble{Key: key, Err: err})
			return nil, nil
		}
		holders := inv.state.scopes().Holders(key)
		if busy == BusyReplace {
			inv.replace(holders, asked)
		}
		looks++
		var d time.Duration
		err = &retry.Error{Cause: errors.New("busy")}
		if busy != BusyFail {
			d, err = inv.patience(&gate.Refusal{Kind: "scope"}, looks, false)
		}
		if err == nil {
			if !announced {
				announced = true
				inv.update(supervise.StateWaiting, 1, "scope "+key+" is taken", time.Time{})
				inv.observe(ScopeBusy{Key: key, Holders: holders, Replaced: busy == BusyReplace})
			}
			err = inv.doze(d, nil)
		}
		if err != nil {
			var stop *retry.Error
			if !errors.As(err, &stop) {
				a := inv.stoppedEarly(err)
				return nil, &a
			}
			return nil, &attempt{code: -1, again: true,
				verdict: verdict.Verdict{Class: verdict.SessionBusy, Rule: "scope", Sent: verdict.SentNo, Evidence: "scope " + key + " is taken"},
				message: fmt.Sprintf("scope %s is taken by another run; see: belay ps; retry later", key)}
		}
	}
}

// replace asks the runs that hold a scope to stop, each once.
func (inv *Invocation) replace(holders []string, asked map[string]bool) {
	runs, err := inv.state.Records().List()
	if err != nil {
		return
	}
	for _, id := range holders {
		for _, r := range runs {
			if r.ID == id && !asked[id] {
				asked[id] = true
				r.Owner.Terminate()
			}
		}
	}
}
