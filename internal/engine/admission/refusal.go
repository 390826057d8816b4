package admission

import (
	"context"
	"errors"
	"fmt"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/engine/spending"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// Refusal is why an attempt was never started.
type Refusal struct {
	Verdict verdict.Verdict
	Message string
	Code    int // the exit code that the command would have had; -1 if there is none
	// StopCode is the exit code of an invocation that ends because it was told to.
	StopCode          int
	TimedOut, Expired bool
	Stop              *retry.Error // why nothing more is tried
	Barred            bool         // by a gate, or by a limit on cost
}

// CutShort is an attempt that was never started because the invocation was ended, or its time was over.
func (p *Pace) CutShort(c *call.Call, cause error) *Refusal {
	cause = call.Cancelled(p.Ctx, cause)
	r := Interruption(c, func(why string) string { return fmt.Sprintf("%s was not started: %s", c.Command.Name(), why) }, cause)
	r.Verdict.Sent = verdict.SentNo
	return r
}

// Interruption is the end of an invocation whose next attempt does not come: it was told to end, or all of its time is over.
func Interruption(c *call.Call, say func(why string) string, cause error) *Refusal {
	r := &Refusal{Code: -1, Stop: &retry.Error{Cause: cause}}
	if errors.Is(cause, retry.ErrTotalTimeout) {
		r.Expired = true
		r.Verdict = verdict.Verdict{Class: verdict.Timeout, Rule: "total-timeout"}
		r.Message = say(fmt.Sprintf("the total timeout (%s) has passed", message.Seconds(c.Settings.Policy.TotalTimeout)))
		return r
	}
	if cause == nil {
		cause = context.Canceled
	}
	r.Verdict = verdict.Verdict{Class: verdict.Interrupted, Rule: "cancelled", Evidence: cause.Error()}
	r.StopCode, r.Message = call.StopCode(cause), say(cause.Error())
	return r
}

// RefuseCost is an attempt that was not started because a limit on cost is reached.
func RefuseCost(e *belaytype.MaxCostReached, c *call.Call) *Refusal {
	return &Refusal{Code: -1, Verdict: spending.CostVerdict(e), Message: c.CauseText(e), Barred: true, Stop: spending.CostStop(e)}
}
