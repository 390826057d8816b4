package gemini

import (
	"cmp"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// lookInterval is how often a record is looked for that is not there.
const lookInterval = 100 * time.Millisecond

// readRecord reads on in gemini's own record; false if there is none.
func (f *follower) readRecord() bool {
	if f.saved {
		return false
	}
	if f.record == nil {
		session := f.Session
		session = cmp.Or(session, f.ownID)
		if session == "" || time.Since(f.looked) < lookInterval && !f.Over {
			return false
		}
		f.looked = time.Now()
		path := findRecord(f.profile.home, session)
		if path == "" {
			return false
		}
		f.record = newRecordReader(path, f.start)
	}
	return f.record.read() == nil
}

// turn is what the model calls have used that gemini has put on record since it was asked last; nil if there was none. Events tell
// of them only at the end.
func (f *follower) turn() *verdict.Usage {
	if !f.readRecord() {
		return nil
	}
	if n := len(f.record.calls); n > 0 {
		f.Models.Answer(f.record.calls[n-1].Model)
	}
	return f.record.untold().Turn(f.prices)
}

// models is what each model was used, as gemini has told in the end; nil if it has not.
func (f *follower) models() map[string]tokens {
	switch {
	case f.result != nil && f.result.Stats != nil:
		return f.result.Stats.byModel()
	case f.document != nil && f.document.Stats != nil:
		return f.document.Stats.byModel()
	}
	return nil
}

// Account implements [agent.Reader]. What an attempt used that was ended before it could say so is on its record, except for
// the request it was ended in.
func (f *follower) Account() agent.Account {
	a := f.Attempt.Account()
	a.Unseen = f.unseen
	models, told := f.models(), true
	recorded := f.Over && f.readRecord()
	if f.Over && a.Session == "" && recorded {
		a.Session = f.ownID // it is on record, so that it can be resumed
	}
	if recorded {
		a.Active = f.Worked || len(f.record.calls) > 0 // an answer that was cut off is not kept, and cannot be gone on with
	}
	switch {
	case models != nil:
		sums := sumsOf(models)
		a.Usage, a.Estimate = sums.Usage(), sums.Cost(f.prices)
		if recorded && f.record.used == sum(models) {
			if usd := f.record.calls.Cost(f.prices); usd != nil {
				a.Estimate = usd // call by call, which may be dearer: a long prompt is
			}
		}
	case f.record != nil:
		a.Usage, a.Estimate = f.record.calls.Usage(), f.record.calls.Cost(f.prices)
	default:
		told = false
	}
	if f.document != nil && f.document.Stats != nil {
		a.Active = a.Active || f.class == verdict.OK || f.usedTools()
		a.Requests = f.document.Stats.requests()
		for name, t := range f.document.Stats.Tools.ByName {
			a.Tools.Totals = append(a.Tools.Totals, agent.ToolTotal{Name: name, Count: t.Count, Time: time.Duration(t.DurationMS) * time.Millisecond})
		}
	} else {
		a.Requests = f.answers + f.Retries + f.unseen
		if f.Over && (f.failed || f.isUnanswered()) {
			a.Requests++
		}
	}
	a.Usage.Unknown = f.Over && (f.Active && !told || f.isUnanswered())
	return a
}

// isUnanswered reports whether the attempt has ended while the model was being asked.
func (f *follower) isUnanswered() bool {
	return f.result == nil && f.document == nil && f.asking && !f.waiting
}
