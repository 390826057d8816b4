package engine

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/verdict"
)

// sessions follows the sessions that the attempts of an agent begin or resume, and what was used in them.
type sessions struct {
	call   *call
	traits agent.Info

	slot    *gate.Slot // a session never has two writers
	last    string     // the last session that was seen
	live    string     // the one that the present attempt has begun or gone on with
	usage   tally      // of all attempts
	account account    // of the session that the next attempt goes on with, or begins
	turns   int
	// innerRetries are retries inside the CLI that were not stopped.
	innerRetries int
}

// scope is the scope of a session: it never has two writers.
func (s *sessions) scope(id string) string {
	return s.call.profile.Name() + " session " + strings.ToLower(id)
}

// next prepares for the session of an attempt, of which the turn's is given. That of the attempt before, if it is another,
// is left. What the next one has cost so far is looked up now: until the session was free, others may have used it.
func (s *sessions) next(id string) {
	id = cmp.Or(id, s.traits.Resumes)
	if s.live != "" && s.live != id {
		s.leave(state.SessionAbandoned)
		s.live = ""
	}
	if id == "" || id != s.account.session {
		s.account = s.accountOf(id)
	}
}

// accountOf is what is known of the cost of a session. One that begins has cost nothing.
func (s *sessions) accountOf(id string) account {
	a := account{session: id}
	switch {
	case id == "" && !s.traits.GoesOn:
		a.told = new(float64)
	case s.call.state != nil:
		known := s.call.state.Session(s.call.profile.Name(), id)
		if !known.Usage.Estimated && !known.Usage.Unknown { // else it is not what the CLI has added up
			a.told, a.tokens = known.Usage.CostUSD, known.Usage.InputTokens+known.Usage.OutputTokens
		}
		if told := known.ToldCost; told != nil {
			a.told, a.tokens = told, known.ToldTokens
		}
	}
	return a
}

// begin puts a session on record as soon as it has a name, and on the record of the run: should we be killed, it is by that
// what was used is found. began is when the attempt was started.
func (s *sessions) begin(id string, began time.Time) {
	s.named(id)
	s.call.live.inSession(id, s.call.absolute(s.traits.Home), began)
	if tell := s.call.runner.InSession; tell != nil {
		tell(id)
	}
}

// named puts a session on record that has a name now.
func (s *sessions) named(id string) {
	s.live, s.account.session = id, id
	if s.slot == nil && s.call.scopes != nil {
		var err error
		s.slot, err = s.call.scopes.Take(s.scope(id), 1, s.call.id)
		if _, refused := errors.AsType[*safefile.Error](err); refused {
			s.call.live.trouble(err)
		}
	}
	s.save(id, state.SessionRunning)
}

// soFar is what all attempts have used, with that of the present one.
func (s *sessions) soFar(present verdict.Usage) verdict.Usage {
	sum := s.usage
	sum.add(present)
	return sum.sum()
}

// learn takes note of what an attempt has done. What it has cost may be found out by it.
func (s *sessions) learn(a *agent.Account) {
	if a.Session != "" && a.Session != s.live {
		s.named(a.Session) // it is known only now
	}
	s.account.add(&a.Usage, a.SessionCost, a.SessionTokens, a.Estimate)
	s.usage.add(a.Usage)
	if a.Session != "" {
		s.last = a.Session
	}
	s.turns += a.Turns
}

// end puts the session's end on record.
func (s *sessions) end(success bool, class verdict.Class) {
	if s.live != "" {
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
func (s *sessions) leave(status string) {
	s.save(s.live, status)
	s.free()
}

func (s *sessions) free() {
	s.slot.Free()
	s.slot = nil
}

func (s *sessions) save(id, status string) {
	if s.call.state == nil {
		return
	}
	known := s.call.state.Session(s.call.profile.Name(), id)
	known.Profile, known.ID, known.Dir, known.Status = s.call.profile.Name(), id, s.call.dir(), status
	if status != state.SessionAbandoned { // that is no use of it
		known.Updated = time.Now()
	}
	if a := &s.account; status != state.SessionRunning {
		known.Usage, a.here = known.Usage.Add(a.here.sum()), tally{}
		known.ToldCost, known.ToldTokens = a.told, a.tokens
		if a.open.n > 0 || a.open.cut {
			known.ToldCost, known.ToldTokens = nil, 0
		}
	}
	if err := s.call.state.SaveSession(known); err != nil {
		s.call.live.trouble(err)
	}
}
