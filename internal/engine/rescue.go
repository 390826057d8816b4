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
	most := k.call.Settings.Resume.MaxCost
	if most <= 0 || k.next.Session == "" {
		return
	}
	format, path := r.record(k.next.Session)
	if path == "" {
		return
	}
	p, err := history.ResumePrice(format, path, k.call.Settings.Prices, time.Now())
	if err == nil && p.USD != nil && *p.USD > most {
		r.handOver(format, path, k.next.Session, fmt.Sprintf("to continue session %s would cost %s", k.next.Session, printable.Dollars(*p.USD)))
	}
}

// priceInWords says what it costs to resume a session; empty if that is not known.
func (r *rescue) priceInWords(session string) string {
	k := r.turn
	format, path := r.record(session)
	if path == "" {
		return ""
	}
	p, err := history.ResumePrice(format, path, k.call.Settings.Prices, time.Now())
	if err != nil || p.Tokens == 0 {
		return ""
	}
	text := fmt.Sprintf("%d tokens", p.Tokens)
	if p.USD != nil {
		text += ", " + printable.Dollars(*p.USD)
	}
	if p.Cold {
		return text + " (no longer in the service's cache)"
	}
	return text + " (from the service's cache)"
}
