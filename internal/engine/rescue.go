package engine

import (
	"cmp"
	"fmt"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent/history"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/profile"
)

// rescue does what can be done about a session that cannot go on: first a repaired copy of it, then a new one.
type rescue struct {
	turn                 *turn
	repaired, handedOver string // the sessions that it was done with
}

// record is where the CLI keeps the record of a session; path is empty if there is none that can be read.
func (r *rescue) record(session string) (format *history.Format, path string) {
	k := r.turn
	cli := profile.Find(k.call.Profile.Name())
	if cli == nil || cli.Records == nil || session == "" {
		return nil, ""
	}
	return cli.Records, cli.Records.Find(k.call.Absolute(k.info.Home), session)
}

// goOn prepares the attempt after one whose history the service has rejected, if that was asked for: in a copy that is repaired, or else in a new session.
func (r *rescue) goOn(j *judgement) bool {
	k := r.turn
	asked := &k.call.Settings.Resume
	session := cmp.Or(j.account.Session, k.next.Session)
	format, path := r.record(session)
	if !asked.HandOver && !asked.OrNew || path == "" {
		return false
	}
	why := "the service rejects the history of session " + session
	if r.repaired == "" {
		if report, err := history.Examine(format, path, session, j.verdict.Evidence); err == nil && len(report.Found) > 0 {
			if mended, err := report.Mend(); err == nil {
				r.repaired = session
				k.call.Emit(belaytype.SessionGone{ID: session, Why: why, Repaired: mended})
				if k.next.Continue || j.account.Active {
					k.next = k.continuation(mended)
				} else {
					k.next.Session = mended
				}
				return true
			}
		}
	}
	return r.handOver(format, path, session, why)
}

// handOver prepares an attempt in a new session, which is told what the record of another one says. A command line that itself says which session it is has no other.
func (r *rescue) handOver(format *history.Format, path, session, why string) bool {
	k := r.turn
	if r.handedOver != "" || k.info.GoesOn || k.info.Resumes != "" || k.info.Fixed != "" {
		return false
	}
	told, err := history.Summary(format, path)
	if err != nil {
		return false
	}
	if k.first.Prompt != nil {
		told = *k.first.Prompt + "\n\n" + told
	}
	next := k.first
	next.Session, next.Prompt = "", &told
	if _, err := k.agent.Plan(next); err != nil {
		return false
	}
	r.handedOver = session
	k.call.Emit(belaytype.SessionGone{ID: session, Why: why})
	k.first, k.next = next, next
	return true
}

// afford hands over instead of resuming a session if that costs more than it may.
func (r *rescue) afford() {
	k := r.turn
	most, session := k.call.Settings.Resume.MaxCost, k.next.Session
	if most <= 0 {
		return
	}
	if p := r.price(session, time.Now()); p != nil && p.USD != nil && *p.USD > most {
		format, path := r.record(session)
		r.handOver(format, path, session, fmt.Sprintf("to continue session %s would cost %s", session, printable.Dollars(*p.USD)))
	}
}

// price is what it costs to resume a session at a time; nil if that is not known.
func (r *rescue) price(session string, at time.Time) *history.Price {
	format, path := r.record(session)
	if path == "" {
		return nil
	}
	return history.ResumePrice(format, path, r.turn.call.Settings.Prices, at)
}
