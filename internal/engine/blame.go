package engine

import (
	"cmp"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/verdict"
)

// blame fills in whose service it was that failed, what that has answered, and whether a repetition is worth while, where
// the class does not say so.
func (inv *Invocation) blame(e *journal.Entry, a *attempt) {
	switch {
	case inv.talk != nil:
		e.Provider = inv.talk.traits.Provider
	case inv.calls != nil:
		e.Provider = inv.calls.habits.Provider
	}
	if a.started && !a.expired && answers(a.verdict.Class) {
		e.HTTPStatus = cmp.Or(a.account.Status, verdict.StatusIn(a.verdict.Rule), verdict.StatusIn(a.verdict.Evidence))
	}
	if worth := a.verdict.Retryable; worth != a.verdict.Class.Retryable() {
		e.Retryable = &worth
	}
}

// answers reports whether a service has answered in an outcome of that class, so that there is a status.
func answers(class verdict.Class) bool {
	switch class {
	case verdict.RateLimit, verdict.UsageLimit, verdict.Overloaded, verdict.ServerError, verdict.Timeout, verdict.Auth, verdict.Billing,
		verdict.InvalidRequest, verdict.NotFound, verdict.TooLarge, verdict.Refused:
		return true
	}
	return false
}
