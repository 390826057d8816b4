package engine

import (
	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/engine/admission"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/engine/spending"
	"github.com/belay-run/belay/internal/engine/transcript"
)

// candidate is a command that may answer the request of an invocation: the caller's own, or a fallback. Each has a gate, a
// policy and sessions of its own. The id, the time, the limits on cost and the record are the invocation's.
type candidate struct {
	call    *call.Call
	pace    *admission.Pace
	kind    kind
	control *control
	// spending are the limits on cost that it counts towards.
	spending *spending.Ledger
	login    admission.Login
	// turnOver puts a turn of a conversation on record.
	turnOver func(transcript.TurnReport)

	ground      *ground         // nil if it works where its caller is
	dir         string          // where it would work then; empty as long as it has no tree
	fallback    string          // what the caller calls it; empty for the caller's own command
	budgets     []budget.Joined // that a fallback joins beside the runner's
	worked      bool            // it has done something that another would do again
	versionSaid bool            // that its version is not a tested one
}

// managed says that more was asked for than to run the command: then we may end what it leaves behind.
func (cand *candidate) managed() bool {
	p := &cand.pace.Policy
	return cand.pace.MayRepeat() || cand.call.Checks() || p.Timeout > 0 || p.TotalTimeout > 0 || cand.call.Settings.Stall > 0 || cand.call.Settings.Ceilings != (call.Ceilings{}) || cand.call.Settings.AtMost != (call.Bounds{})
}
