package view

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/supervise"
)

// Cancel asks the owner of a run to stop it. by is the command that asks.
func (s *Source) Cancel(id, by string) (supervise.Record, error) {
	runs, err := overview.Runs(s.State.Records())
	if err != nil {
		return supervise.Record{}, err
	}
	for _, r := range runs {
		if r.ID == id {
			return r, r.RequestStop(supervise.StopRequest{By: by})
		}
	}
	return supervise.Record{}, os.ErrProcessDone
}

// ResetGate makes a gate healthy again, and returns what to say of it.
func (s *Source) ResetGate(key string) (string, error) {
	if err := overview.CheckKey(key); err != nil {
		return "", err
	}
	unrecorded, err := overview.SetGate(s.State, overview.Change{Event: "gate_reset", Key: key}, func(g gate.State, now time.Time) gate.State { return g.Reset(now) })
	return said(message.GateReset(key), unrecorded), err
}

// HoldGate lets nothing start through a gate for a time, and returns what to say of it.
func (s *Source) HoldGate(key string, length time.Duration, reason string) (string, error) {
	if err := overview.CheckKey(key); err != nil {
		return "", err
	}
	if length < time.Second || length > maxHold {
		return "", message.Error(fmt.Sprintf("a gate can be held for between 1 second and %d days", int(maxHold.Hours()/24)))
	}
	if reason = cleaned(reason); reason == "" {
		reason = message.SetByHand()
	}
	until := time.Now().Add(length)
	unrecorded, err := overview.SetGate(s.State, overview.Change{Event: "gate_hold", Key: key, Until: until, Reason: reason},
		func(g gate.State, now time.Time) gate.State { return g.Held(now, until, reason) })
	return said(message.GateHolds(key, until), unrecorded), err
}

// maxHold is how long a gate can be held from a page.
const maxHold = 31 * 24 * time.Hour

// maxReason bounds the reason that is given for a hold.
const maxReason = 200

// cleaned is a reason in one line that is not too long.
func cleaned(reason string) string {
	reason = strings.Join(strings.Fields(printable.Line(reason)), " ")
	for i := range reason {
		if i > maxReason {
			return reason[:i]
		}
	}
	return reason
}

// said is what was done, and that it is not on record if it is not.
func said(done string, unrecorded error) string {
	if unrecorded != nil {
		return message.ChangeUnrecorded(unrecorded)
	}
	return done
}
