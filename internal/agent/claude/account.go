package claude

import (
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// Account implements [agent.Reader].
func (f *follower) Account() agent.Account {
	a := f.Attempt.Account()
	a.Unseen = f.unseen()
	if f.result != nil {
		a.Status = f.result.Status
	}
	a.AllModels = f.limit.resets() && !strings.HasPrefix(f.limit.Type, "seven_day_") // which has a model after it
	if !f.turnBegun && f.subtype == "error_during_execution" {
		a.Session = "" // it names the one that it could not find
	}
	a.Usage, a.SessionCost, a.SessionTokens = f.ledger.total(f.resumed(), f.midway)
	if f.abandoned() {
		// Nor is the session's believed: the cost of the attempt would be found out from it.
		a.Usage.CostUSD, a.SessionCost, a.SessionTokens = nil, nil, 0
	}
	a.Usage.Unknown = f.midway || f.unseenUsage()
	a.Estimate = f.ledger.estimate()
	a.Turns = f.ledger.turns()
	a.Requests = len(f.ledger.answers) - f.cut + f.Retries + a.Unseen
	if f.refused() {
		a.Requests++
	}
	return a
}

// abandoned reports whether claude was interrupted after it had asked the model and before it had an answer. If it still
// gets to write a result, which is a matter of chance, that has the cost of the turns before.
func (f *follower) abandoned() bool {
	r := f.result
	switch {
	case r == nil:
		return false
	case f.class == verdict.Interrupted && f.unanswered:
		return true
	}
	return f.subtype == "error_during_execution" && (r.TerminalReason == "aborted_streaming" || f.unanswered && r.TerminalReason == "") && !f.refused()
}

// unseenUsage reports whether there were no events to tell what was used, and the model has most likely been asked.
func (f *follower) unseenUsage() bool {
	if f.events {
		return false
	}
	switch f.class {
	case verdict.OK, verdict.Interrupted, verdict.LimitReached, verdict.Refused, verdict.BadOutput, verdict.Crash:
		return true
	}
	return false // refused by the service, or by claude itself
}

// refused reports whether the last request failed, so that there is no answer to count. What claude finds out by itself,
// such as a missing login, takes no request.
func (f *follower) refused() bool {
	r := f.result
	return r != nil && (r.Status != 0 || r.APIError != "" || f.complaint.Error != "" && f.Retries > 0 || strings.HasPrefix(r.Text, "API Error"))
}

// resumed reports whether the attempt went on with a session.
func (f *follower) resumed() bool {
	line := &f.profile.line
	return slices.Contains(f.plan.Added, "--resume") || line.Has("-r") || line.Has("-c")
}
