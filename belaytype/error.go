package belaytype

import (
	"errors"
	"fmt"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// Error is how a command ends that is not a success.
type Error struct {
	// Invocation is the id of the run, as the log has it.
	Invocation string
	// Verdict is the verdict of the last attempt.
	Verdict verdict.Verdict
	// Message says what happened, in one line.
	Message string
	// Cause is why there was no further attempt: one of the sentinels of package retry, one of the causes of this package,
	// or the context's cause.
	Cause error
	// RetryAt is the time before which another call is pointless; zero if nothing is known.
	RetryAt time.Time
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// UsageError says that a command cannot be run as it was asked for. Nothing was started.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *UsageError) Unwrap() error { return e.Err }

// Interrupt as the cause of a context, or of belay.Invocation.Cancel, says that the caller was sent this signal: the command
// gets the same one, and the verdict is "interrupted".
type Interrupt struct {
	// Signal is its number, and Name what it is called: "SIGINT".
	Signal int
	Name   string
}

func (i *Interrupt) Error() string { return fmt.Sprintf("interrupted by %s", i.Name) }

// GateRefused is the cause of an attempt that a gate did not let start, and which could not wait any longer. It is a
// [retry.ErrMaxWait].
type GateRefused struct {
	Key     string
	Refusal gate.Refusal
}

func (e *GateRefused) Error() string { return message.GateRefused(e.Key, e.Refusal, "", false) }

// Unwrap returns [retry.ErrMaxWait].
func (e *GateRefused) Unwrap() error { return retry.ErrMaxWait }

// ScopeTaken is the cause of a run that was not started because another one holds its scope. It is a [retry.ErrMaxWait].
type ScopeTaken struct {
	Key     string
	Holders []string // ids of runs
}

func (e *ScopeTaken) Error() string { return message.ScopeTaken(e.Key, "", false) }

// Unwrap returns [retry.ErrMaxWait].
func (e *ScopeTaken) Unwrap() error { return retry.ErrMaxWait }

// MaxCostReached says that an agent was stopped, or not started again, because what it may cost is used up: see
// belay.Runner.MaxCost.
type MaxCostReached struct {
	Spent, Limit float64
	// Unknown, if not 0, is how many attempts there were whose cost is not known: then that is why.
	Unknown int
	// Budget is the budget whose limit it is, which holds for a Window: a day, a week or a month. Run is the run around this
	// one whose maximum cost it is. Both are empty if it is belay.Runner.MaxCost.
	Budget, Window, Run string
	// Until is when the budget opens again; zero if it does not.
	Until time.Time
}

func (e *MaxCostReached) Error() string {
	what := message.MaxCost(e.Run != "")
	if e.Budget != "" {
		what = "budget " + e.Budget
	}
	return message.CostReached(message.Cost{What: what, Spent: e.Spent, Limit: e.Limit, Window: e.Window, Unknown: e.Unknown, Until: e.Until}, "")
}

// RetriesSpent says that there was no further attempt because all that share a gate have together used up its retries.
type RetriesSpent struct{ Key string }

func (e *RetriesSpent) Error() string { return message.RetriesSpent(e.Key, time.Time{}, false) }

// ErrMayBeDone says that there was no further attempt because the command may have had its effect. It is in every
// [EffectUnknown].
var ErrMayBeDone = errors.New(message.MayBeDone())

// EffectUnknown says that a failed attempt may have had its effect: see [Effects].
type EffectUnknown struct {
	// Verifiable says that there is a way to find out, Asked that the caller has asked for that, and Err why it has failed.
	Verifiable, Asked bool
	Err               error
}

func (e *EffectUnknown) Error() string { return message.EffectUnknown(e.Verifiable, e.Err, false) }

// Unwrap returns [ErrMayBeDone], and why it could not be found out.
func (e *EffectUnknown) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrMayBeDone}
	}
	return []error{ErrMayBeDone, e.Err}
}

// NoSession says that there is no last session to go on with.
type NoSession struct{ Profile string }

func (e *NoSession) Error() string { return message.NoSession(e.Profile, false) }

// StdinTimeout says that the command was not started because its stdin did not end in time. It is a [retry.ErrTimeout].
type StdinTimeout struct {
	Command string
	Limit   time.Duration
}

func (e *StdinTimeout) Error() string { return message.StdinTimeout(e.Command, e.Limit, "") }

// Unwrap returns [retry.ErrTimeout].
func (e *StdinTimeout) Unwrap() error { return retry.ErrTimeout }

// TooLong says that the arguments are too long for the system: one of them, or all with the environment.
type TooLong struct {
	Err error
	All bool
}

func (e *TooLong) Error() string { return e.Err.Error() }

// Unwrap returns what the system says.
func (e *TooLong) Unwrap() error { return e.Err }

// InputRead says that there was no further attempt because the command has read its standard input, which is gone: see
// belay.Runner.ReplayStdin.
type InputRead struct{ Command string }

func (e *InputRead) Error() string { return message.InputRead(e.Command, "") }

// FallbackRefused says that a fallback does not fit the command, see belay.Runner.Fallbacks. Nothing was started.
type FallbackRefused struct {
	// Fallback is its name: "codex", "claude:sonnet".
	Fallback string
	// Why says it in words.
	Why string
	// Args says that arguments of its own would make it fit, Form that another form of output would.
	Args, Form bool
}

func (e *FallbackRefused) Error() string { return message.FallbackRefused(e.Fallback, e.Why) }

// Replaced says that another run has taken the place of this one in its scope: see [BusyReplace].
type Replaced struct{ By string }

func (e *Replaced) Error() string { return message.Replaced(e.By) }
