package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// refusal is why an attempt was never started.
type refusal struct {
	verdict verdict.Verdict
	message string
	code    int // the exit code that the command would have had; -1 if there is none
	// stopCode is the exit code of an invocation that ends because it was told to.
	stopCode          int
	timedOut, expired bool
	stop              *retry.Error // why nothing more is tried
	barred            bool         // by a gate, or by a limit on cost
}

// cutShort is an attempt that was never started because the invocation was ended, or its time was over.
func (p *pace) cutShort(c *call, cause error) *refusal {
	cause = cancelled(p.ctx, cause)
	r := interruption(c, func(why string) string { return fmt.Sprintf("%s was not started: %s", c.command.name(), why) }, cause)
	r.verdict.Sent = verdict.SentNo
	return r
}

// interruption is the end of an invocation whose next attempt does not come: it was told to end, or all of its time is over.
func interruption(c *call, say func(why string) string, cause error) *refusal {
	r := &refusal{code: -1, stop: &retry.Error{Cause: cause}}
	if errors.Is(cause, retry.ErrTotalTimeout) {
		r.expired = true
		r.verdict = verdict.Verdict{Class: verdict.Timeout, Rule: "total-timeout"}
		r.message = say(fmt.Sprintf("the total timeout (%s) has passed", message.Seconds(c.runner.Policy.TotalTimeout)))
		return r
	}
	if cause == nil {
		cause = context.Canceled
	}
	r.verdict = verdict.Verdict{Class: verdict.Interrupted, Rule: "cancelled", Evidence: cause.Error()}
	r.stopCode, r.message = stopCode(cause), say(cause.Error())
	return r
}

// refuseCost is an attempt that was not started because a limit on cost is reached.
func refuseCost(e *belaytype.MaxCostReached, c *call) *refusal {
	return &refusal{code: -1, verdict: costVerdict(e), message: c.causeText(e), barred: true, stop: costStop(e)}
}
