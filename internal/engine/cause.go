package engine

import (
	"errors"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/retry"
)

// The causes below say why an invocation ended or was not begun, with what there is to know about it. Their texts name no
// flag of any command: see [Runner.Words].

// GateRefused says that a gate did not let an attempt start.
type GateRefused struct {
	Key     string
	Refusal gate.Refusal
}

func (e *GateRefused) Error() string {
	return message.GateRefused(e.Key, e.Refusal, "", false)
}

// Unwrap returns [retry.ErrMaxWait]: it was not waited for any longer.
func (e *GateRefused) Unwrap() error { return retry.ErrMaxWait }

// ScopeTaken says that another run holds a scope.
type ScopeTaken struct {
	Key     string
	Holders []string // ids of runs
}

func (e *ScopeTaken) Error() string {
	return message.ScopeTaken(e.Key, "", false)
}

// Unwrap returns [retry.ErrMaxWait]: it was not waited for any longer.
func (e *ScopeTaken) Unwrap() error { return retry.ErrMaxWait }

// MaxCostReached says that an agent was stopped, or not started again, because what it may cost is used up.
type MaxCostReached struct {
	Spent, Limit float64
	// Unknown, if not 0, is how many attempts there were whose cost is not known: then that is why.
	Unknown int
	// Budget is the budget whose limit it is, which holds for a Window: a day, a week or a month. Run is the run around this
	// one whose maximum cost it is. Both are empty if it is that of the run itself.
	Budget, Window, Run string
	// Until is when the budget opens again; zero if it does not.
	Until time.Time
}

func (e *MaxCostReached) Error() string {
	what := message.MaxCost(e.Run != "")
	if e.Budget != "" {
		what = "budget " + e.Budget
	}
	return message.CostReached(e.Cost(what), "")
}

// Cost is how the limit stands, for a message that names it in other words: "--max-cost".
func (e *MaxCostReached) Cost(what string) message.Cost {
	return message.Cost{What: what, Spent: e.Spent, Limit: e.Limit, Window: e.Window, Unknown: e.Unknown, Until: e.Until}
}

// RetriesSpent says that there was no further attempt because all processes together have used up the retries of a gate.
type RetriesSpent struct{ Key string }

func (e *RetriesSpent) Error() string {
	return message.RetriesSpent(e.Key, time.Time{}, false)
}

// TooLate says that the next attempt would have come too late.
type TooLate struct {
	// Total says that it is the total timeout that would have passed, NoWait that no wait was allowed at all, Busy none for
	// a scope. Otherwise the longest wait would have been exceeded.
	Total, NoWait, Busy bool
	// Open says that the policy does not wait for an open breaker.
	Open bool
	// Limit is the total timeout or the longest wait; 0 if no wait was allowed.
	Limit time.Duration
	// Setting is the command's own setting that says so; empty where the caller does.
	Setting string
	// At is when the next attempt would have come; zero if that is not known, or said already.
	At time.Time
}

func (e *TooLate) Error() string {
	if e.Open {
		return message.NotWaiting(message.Bound{})
	}
	return message.NotWaiting(message.Bound{Flag: e.Setting, Limit: e.Limit, At: e.At})
}

// NotAdmitted is what there is to say of an attempt that was not made: why, and why that was not waited for. It is given to
// [Runner.Words] and is the cause of nothing.
type NotAdmitted struct {
	Cause error     // a [*GateRefused], [*ScopeTaken] or [*RetriesSpent]
	Late  *TooLate  // nil if no wait would be long enough
	At    time.Time // when there will be retries again
}

func (e *NotAdmitted) Error() string {
	switch cause := e.Cause.(type) {
	case *GateRefused:
		return message.GateRefused(cause.Key, cause.Refusal, e.notWaiting(), false)
	case *ScopeTaken:
		return message.ScopeTaken(cause.Key, e.notWaiting(), false)
	case *RetriesSpent:
		return message.RetriesSpent(cause.Key, e.At, false)
	}
	return e.Cause.Error()
}

// Unwrap returns the cause.
func (e *NotAdmitted) Unwrap() error { return e.Cause }

func (e *NotAdmitted) notWaiting() string {
	if e.Late == nil {
		return ""
	}
	return e.Late.Error()
}

// tooLate says that an attempt at that time would come too late.
func (c *call) tooLate(at time.Time) *TooLate {
	p := &c.runner.Policy
	switch {
	case c.runner.NoWait:
		return &TooLate{NoWait: true}
	case p.TotalTimeout > 0 && at.After(c.begun.Add(p.TotalTimeout)):
		return &TooLate{Total: true, Limit: p.TotalTimeout}
	case c.ownMaxWait() && c.traits.own.MaxWait != 0:
		return &TooLate{Limit: max(c.traits.own.MaxWait, 0), Setting: c.traits.own.Setting}
	case p.MaxWait == 0:
		return &TooLate{Limit: 5 * time.Minute} // as [retry.Policy] says
	}
	return &TooLate{Limit: max(p.MaxWait, 0)}
}

// ErrMayBeDone says that there was no further attempt because the command may have had its effect. It is in every
// [EffectUnknown].
var ErrMayBeDone = errors.New(message.MayBeDone())

// EffectUnknown says that a failed attempt may have had its effect.
type EffectUnknown struct {
	// Verifiable says that there is a way to find out, Asked that the caller has asked for that, and Err why it has failed.
	Verifiable, Asked bool
	Err               error
}

func (e *EffectUnknown) Error() string {
	return message.EffectUnknown(e.Verifiable, e.Err, false)
}

// Unwrap returns [ErrMayBeDone], and why it could not be found out.
func (e *EffectUnknown) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrMayBeDone}
	}
	return []error{ErrMayBeDone, e.Err}
}

// WorkDone says that no fallback was asked because the agent before it has worked on the request already.
type WorkDone struct{ Command string }

func (e *WorkDone) Error() string { return message.FallbackWorked(e.Command, "") }

// NoSession says that there is no session to go on with.
type NoSession struct{ Profile string }

func (e *NoSession) Error() string {
	return message.NoSession(e.Profile, false)
}

// StdinTimeout says that the command was not started because its stdin did not end in time.
type StdinTimeout struct {
	Command string
	Limit   time.Duration
}

func (e *StdinTimeout) Error() string {
	return message.StdinTimeout(e.Command, e.Limit, "")
}

// Unwrap returns [retry.ErrTimeout].
func (e *StdinTimeout) Unwrap() error { return retry.ErrTimeout }

// TooLong says that the arguments are too long for the system: one of them, or, as the system itself has said, all with the
// environment.
type TooLong struct {
	Err error
	All bool
}

func (e *TooLong) Error() string { return e.Err.Error() }

// Unwrap returns what the system says.
func (e *TooLong) Unwrap() error { return e.Err }

// InputRead says that there was no further attempt because the command had read its standard input, which is gone.
type InputRead struct{ Command string }

func (e *InputRead) Error() string {
	return message.InputRead(e.Command, "")
}

// OutputMatched says that the output of a command makes a failure of it, though it ended with 0 or because it did not.
type OutputMatched struct{ Code int }

func (e *OutputMatched) Error() string {
	return message.OutputMatched(e.Code, "")
}

// Replaced says that another run has taken the place of this one in its scope.
type Replaced struct{ By string }

func (e *Replaced) Error() string { return message.Replaced(e.By) }

// asInterrupt finds the signal in a cause.
func asInterrupt(cause error) (*Interrupt, bool) { return errors.AsType[*Interrupt](cause) }
