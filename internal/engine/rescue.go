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

// report is what the record of a session says; nil if there is none that can be read.
func (r *rescue) report(session, refused string) *history.Report {
	k := r.turn
	cli := profile.Find(k.call.Profile.Name())
	if cli == nil || cli.Records == nil || session == "" {
		return nil
	}
	path := cli.Records.Find(k.call.Absolute(k.info.Home), session)
	report, _ := history.Examine(cli.Records, path, session, refused)
	return report
}

// goOn prepares the attempt after one whose history the service has rejected, if that was asked for: in a copy that is repaired, or else in a new session.
func (r *rescue) goOn(j *judgement) bool {
	k := r.turn
	if asked := &k.call.Settings.Resume; !asked.HandOver && !asked.OrNew {
		return false
	}
	session := cmp.Or(j.account.Session, k.next.Session)
	report := r.report(session, j.verdict.Evidence)
	if report == nil {
		return false
	}
	why := "the service rejects the history of session " + session
	if r.repaired == "" && len(report.Found) > 0 {
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
	return r.handOver(report, why)
}

// handOver prepares an attempt in a new session, which is told what the record of another one says. A command line that itself says which session it is has no other.
func (r *rescue) handOver(report *history.Report, why string) bool {
	k := r.turn
	if r.handedOver != "" || k.info.GoesOn || k.info.Resumes != "" || k.info.Fixed != "" {
		return false
	}
	told, err := report.Summary()
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
	r.handedOver = report.Session
	k.call.Emit(belaytype.SessionGone{ID: report.Session, Why: why})
	k.first, k.next = next, next
	return true
}

// afford hands over instead of resuming a session if that costs more than it may.
func (r *rescue) afford() {
	if most := r.turn.call.Settings.Resume.MaxCost; most > 0 {
		if p, report := r.price(r.turn.next.Session, time.Now()); p.USD != nil && *p.USD > most {
			r.handOver(report, fmt.Sprintf("to continue session %s would cost %s", report.Session, printable.Dollars(*p.USD)))
		}
	}
}

// price is what it costs to resume a session at a time, by its record.
func (r *rescue) price(session string, at time.Time) (p history.Price, report *history.Report) {
	if report = r.report(session, ""); report != nil {
		p = report.Price(r.turn.call.Settings.Prices, at)
	}
	return p, report
}
