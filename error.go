package belay

import (
	"fmt"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/verdict"
)

// Error is how a command ends that is not a success.
type Error struct {
	// Invocation is the id of the run, as the log has it.
	Invocation string
	// Verdict is that of the last attempt.
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

// Interrupt as the cause of a context, or of [Invocation.Cancel], says that the caller was sent this signal: the command
// gets the same one, and the verdict is "interrupted".
type Interrupt struct {
	// Signal is its number, and Name what it is called: "SIGINT".
	Signal int
	Name   string
}

func (i *Interrupt) Error() string { return fmt.Sprintf("interrupted by %s", i.Name) }

// As lets the engine find the interrupt in a context's cause.
func (i *Interrupt) As(target any) bool {
	e, ok := target.(**engine.Interrupt)
	if ok {
		*e = (*engine.Interrupt)(i)
	}
	return ok
}

// GateRefused is the cause of an attempt that a gate did not let start, and which could not wait any longer. It is a
// [retry.ErrMaxWait].
type GateRefused struct {
	Key     string
	Refusal gate.Refusal
}

func (e *GateRefused) Error() string { return (*engine.GateRefused)(e).Error() }

// Unwrap returns [retry.ErrMaxWait].
func (e *GateRefused) Unwrap() error { return (*engine.GateRefused)(e).Unwrap() }

// ScopeTaken is the cause of a run that was not started because another one holds its scope. It is a [retry.ErrMaxWait].
type ScopeTaken struct {
	Key     string
	Holders []string // ids of runs
}

func (e *ScopeTaken) Error() string { return (*engine.ScopeTaken)(e).Error() }

// Unwrap returns [retry.ErrMaxWait].
func (e *ScopeTaken) Unwrap() error { return (*engine.ScopeTaken)(e).Unwrap() }

// MaxCostReached says that an agent was stopped, or not started again, because what it may cost is used up: see
// [Runner.MaxCost].
type MaxCostReached struct {
	Spent, Limit float64
	// Unknown, if not 0, is how many attempts there were whose cost is not known: then that is why.
	Unknown int
	// Budget is the budget whose limit it is, which holds for a Window: a day, a week or a month. Run is the run around this
	// one whose maximum cost it is. Both are empty if it is [Runner.MaxCost].
	Budget, Window, Run string
	// Until is when the budget opens again; zero if it does not.
	Until time.Time
}

func (e *MaxCostReached) Error() string { return (*engine.MaxCostReached)(e).Error() }

// RetriesSpent says that there was no further attempt because all that share a gate have together used up its retries.
type RetriesSpent struct{ Key string }

func (e *RetriesSpent) Error() string { return (*engine.RetriesSpent)(e).Error() }

// ErrMayBeDone says that there was no further attempt because the command may have had its effect. It is in every
// [EffectUnknown].
var ErrMayBeDone = engine.ErrMayBeDone

// EffectUnknown says that a failed attempt may have had its effect: see [Effects].
type EffectUnknown struct {
	// Verifiable says that there is a way to find out, Asked that the caller has asked for that, and Err why it has failed.
	Verifiable, Asked bool
	Err               error
}

func (e *EffectUnknown) Error() string { return (*engine.EffectUnknown)(e).Error() }

// Unwrap returns [ErrMayBeDone], and why it could not be found out.
func (e *EffectUnknown) Unwrap() []error { return (*engine.EffectUnknown)(e).Unwrap() }

// NoSession says that there is no last session to go on with.
type NoSession struct{ Profile string }

func (e *NoSession) Error() string { return (*engine.NoSession)(e).Error() }

// StdinTimeout says that the command was not started because its stdin did not end in time. It is a [retry.ErrTimeout].
type StdinTimeout struct {
	Command string
	Limit   time.Duration
}

func (e *StdinTimeout) Error() string { return (*engine.StdinTimeout)(e).Error() }

// Unwrap returns [retry.ErrTimeout].
func (e *StdinTimeout) Unwrap() error { return (*engine.StdinTimeout)(e).Unwrap() }

// TooLong says that the arguments are too long for the system: one of them, or all with the environment.
type TooLong struct {
	Err error
	All bool
}

func (e *TooLong) Error() string { return (*engine.TooLong)(e).Error() }

// Unwrap returns what the system says.
func (e *TooLong) Unwrap() error { return e.Err }

// InputRead says that there was no further attempt because the command has read its standard input, which is gone: see
// [Runner.ReplayStdin].
type InputRead struct{ Command string }

func (e *InputRead) Error() string { return (*engine.InputRead)(e).Error() }

// FallbackRefused says that a fallback does not fit the command, see [Runner.Fallbacks]. Nothing was started.
type FallbackRefused struct {
	// Fallback is its name: "codex", "claude:sonnet".
	Fallback string
	// Why says it in words.
	Why string
	// Args says that arguments of its own would make it fit, Form that another form of output would.
	Args, Form bool
}

func (e *FallbackRefused) Error() string { return (*engine.FallbackRefused)(e).Error() }

// Replaced says that another run has taken the place of this one in its scope: see [BusyReplace].
type Replaced struct{ By string }

func (e *Replaced) Error() string { return (*engine.Replaced)(e).Error() }

// newError is an error of the engine as this package has it.
func newError(err error) error {
	switch e := err.(type) {
	case *engine.Error:
		failed := Error(*e)
		failed.Cause = newCause(failed.Cause)
		return &failed
	case *engine.UsageError:
		return &UsageError{newCause(e.Err)}
	}
	return err
}

// newCause is a cause of the engine as this package has it. What the caller has given as one is left as it is.
func newCause(err error) error {
	switch e := err.(type) {
	case *engine.GateRefused:
		return (*GateRefused)(e)
	case *engine.ScopeTaken:
		return (*ScopeTaken)(e)
	case *engine.MaxCostReached:
		return (*MaxCostReached)(e)
	case *engine.RetriesSpent:
		return (*RetriesSpent)(e)
	case *engine.EffectUnknown:
		return (*EffectUnknown)(e)
	case *engine.NoSession:
		return (*NoSession)(e)
	case *engine.StdinTimeout:
		return (*StdinTimeout)(e)
	case *engine.TooLong:
		return (*TooLong)(e)
	case *engine.InputRead:
		return (*InputRead)(e)
	case *engine.FallbackRefused:
		return (*FallbackRefused)(e)
	case *engine.Replaced:
		return (*Replaced)(e)
	}
	return err
}
