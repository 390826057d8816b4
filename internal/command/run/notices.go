package run

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/notify"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/verdict"
)

// notices notify the user, who looks elsewhere by then, of the end of a long run and of a long wait.
type notices struct {
	redact  func(string) string // other programs show what is notified
	waiting time.Time           // since when the next attempt is waited for; zero if it is not
	started bool                // there was an attempt
}

// observe notices waits.
func (n *notices) observe(v *view, e belaytype.Event) {
	switch e := e.(type) {
	case belaytype.Waiting, belaytype.AtGate, belaytype.ScopeBusy:
		if n.waiting.IsZero() {
			n.waiting = time.Now()
		}
	case belaytype.WaitOver:
		if waited := time.Since(n.waiting); !e.CutShort && !n.waiting.IsZero() && n.due(v, waited) {
			again := ""
			if n.started {
				again = "again "
			}
			notify.Resumed(v.screen, n.redact(fmt.Sprintf("%s is starting %safter a wait of %s", n.name(v), again, printable.Span(waited))))
			n.waiting = time.Now()
		}
	case belaytype.AttemptStarted:
		n.waiting, n.started = time.Time{}, true
	}
}

// ended notifies of the end of a run. A user who stopped it at this terminal knows already.
func (n *notices) ended(v *view, r *belaytype.Result, err error) {
	if !n.due(v, r.Duration) {
		return
	}
	cost := ""
	if r.Usage.CostUSD != nil && *r.Usage.CostUSD > 0 { // what is no agent costs nothing
		cost = " (" + costText(r.Usage) + ")"
	}
	by, requested := errors.AsType[*command.StopRequested](err)
	what, why := "finished", ""
	switch {
	case r.Success:
	case r.Verdict.Class != verdict.Interrupted:
		what, why = "failed", ": "+cmp.Or(message.Noun(r.Verdict.Class), fmt.Sprintf("exit %d", r.ExitCode))
	case requested:
		what, why = "was stopped", ": "+by.Error()
	default:
		return
	}
	notify.Ended(v.screen, n.redact(fmt.Sprintf("%s %s after %s%s%s", n.name(v), what, printable.Span(r.Duration), cost, why)))
}

// due reports whether something took long enough.
func (n *notices) due(v *view, took time.Duration) bool {
	limit := v.settings.NotifyAfter
	return limit > 0 && took >= limit && !v.settings.Quiet
}

// name is what the user knows the run by.
func (n *notices) name(v *view) string {
	if v.settings.Name == "" {
		return v.name
	}
	return v.name + " (" + v.settings.Name + ")"
}
