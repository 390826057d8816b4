// Package session follows the sessions of an agent over the attempts of an invocation, and what was used in them.
package session

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/verdict"
)

// Sessions follows the sessions that the attempts of an agent begin or resume, and what was used in them.
type Sessions struct {
	Call   *call.Call
	Traits agent.Info

	Slot    *gate.Slot // a session never has two writers
	Last    string     // the last session that was seen
	Live    string     // the one that the present attempt has begun or gone on with
	Usage   tally      // of all attempts
	account account    // of the session that the next attempt goes on with, or begins
	Turns   int
	// InnerRetries are retries inside the CLI that were not stopped.
	InnerRetries int
}

// Scope is the scope of a session: it never has two writers.
func (s *Sessions) Scope(id string) string {
	return s.Call.Profile.Name() + " session " + strings.ToLower(id)
}

// Next prepares for the session of an attempt, of which the turn's is given. That of the attempt before, if it is another,
// is left. What the next one has cost so far is looked up now: until the session was free, others may have used it.
func (s *Sessions) Next(id string) {
	id = cmp.Or(id, s.Traits.Resumes)
	if s.Live != "" && s.Live != id {
		s.leave(state.SessionAbandoned)
		s.Live = ""
	}
	if id == "" || id != s.account.session {
		s.account = s.accountOf(id)
	}
}

// accountOf is what is known of the cost of a session. One that begins has cost nothing.
func (s *Sessions) accountOf(id string) account {
	a := account{session: id}
	switch {
	case id == "" && !s.Traits.GoesOn:
		a.told = new(float64)
	case s.Call.State != nil:
		known := s.Call.State.Session(s.Call.Profile.Name(), id)
		if !known.Usage.Estimated && !known.Usage.Unknown { // else it is not what the CLI has added up
			a.told, a.tokens = known.Usage.CostUSD, known.Usage.InputTokens+known.Usage.OutputTokens
		}
		if told := known.ToldCost; told != nil {
			a.told, a.tokens = told, known.ToldTokens
		}
	}
	return a
}

// Begin puts a session on record as soon as it has a name, and on the record of the run: should we be killed, it is by that
// what was used is found. began is when the attempt was started.
func (s *Sessions) Begin(id string, began time.Time) {
	s.named(id)
	s.Call.Live.InSession(id, s.Call.Absolute(s.Traits.Home), began)
	if tell := s.Call.Settings.InSession; tell != nil {
		tell(id)
	}
}

// named puts a session on record that has a name now.
func (s *Sessions) named(id string) {
	s.Live, s.account.session = id, id
	if s.Slot == nil && s.Call.Scopes != nil {
		var err error
		s.Slot, err = s.Call.Scopes.Take(s.Scope(id), 1, s.Call.ID)
		if _, refused := errors.AsType[*safefile.Error](err); refused {
			s.Call.Live.Trouble(err)
		}
	}
	s.save(id, state.SessionRunning)
}

// SoFar is what all attempts have used, with that of the present one.
func (s *Sessions) SoFar(present verdict.Usage) verdict.Usage {
	sum := s.Usage
	sum.add(present)
	return sum.Sum()
}

// Learn takes note of what an attempt has done. What it has cost may be found out by it.
func (s *Sessions) Learn(a *agent.Account) {
	if a.Session != "" && a.Session != s.Live {
		s.named(a.Session) // it is known only now
	}
	s.account.add(&a.Usage, a.SessionCost, a.SessionTokens, a.Estimate)
	s.Usage.add(a.Usage)
	if a.Session != "" {
		s.Last = a.Session
	}
	s.Turns += a.Turns
}

// End puts the session's end on record.
func (s *Sessions) End(success bool, class verdict.Class) {
	if s.Live != "" {
		status := state.SessionFailed
		switch {
		case success:
			status = state.SessionDone
		case class == verdict.Interrupted:
			status = state.SessionInterrupted
		}
		s.leave(status)
	}
	s.free()
}

// leave puts on record how the present session stands, and gives it free.
func (s *Sessions) leave(status string) {
	s.save(s.Live, status)
	s.free()
}

func (s *Sessions) free() {
	s.Slot.Free()
	s.Slot = nil
}

func (s *Sessions) save(id, status string) {
	if s.Call.State == nil {
		return
	}
	known := s.Call.State.Session(s.Call.Profile.Name(), id)
	known.Profile, known.ID, known.Dir, known.Status = s.Call.Profile.Name(), id, s.Call.Dir(), status
	if status != state.SessionAbandoned { // that is no use of it
		known.Updated = time.Now()
	}
	if a := &s.account; status != state.SessionRunning {
		known.Usage, a.here = known.Usage.Add(a.here.Sum()), tally{}
		known.ToldCost, known.ToldTokens = a.told, a.tokens
		if a.open.n > 0 || a.open.cut {
			known.ToldCost, known.ToldTokens = nil, 0
		}
	}
	if err := s.Call.State.SaveSession(known); err != nil {
		s.Call.Live.Trouble(err)
	}
}
