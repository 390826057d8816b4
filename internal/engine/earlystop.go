package engine

import (
	"errors"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// earlyStop is why an attempt was stopped before its time: the CLI would go on with retries that we do not allow, with
// model calls that cost more than they may, with another model than the one that is required, or above a ceiling.
type earlyStop struct {
	verdict verdict.Verdict
	stop    *retry.Error // nil if that is for the verdict to say
	tell    string       // of a ceiling: what an agent that continues is told; else empty
}

// forModel says that it was stopped for its model.
func (e *earlyStop) forModel() bool { return e != nil && e.verdict.Class == verdict.WrongModel }

// forCost says that it was stopped for its cost.
func (e *earlyStop) forCost() bool {
	if e == nil || e.stop == nil {
		return false
	}
	_, ok := errors.AsType[*belaytype.MaxCostReached](e.stop.Cause)
	return ok
}

// ceiling is why an attempt is ended for one: why is a sentence that names the command, tell what an agent that continues is told beside that it
// shall, and rule names the setting.
func ceiling(class verdict.Class, rule, why, tell string) *earlyStop {
	return &earlyStop{verdict: verdict.Verdict{Class: class, Retryable: true, Rule: rule, Evidence: why}, tell: tell}
}

// forCeiling says that it was stopped for a ceiling.
func (e *earlyStop) forCeiling() bool { return e != nil && e.tell != "" }

// otherModel is why an attempt is stopped in which another model works than the one that is required.
func otherModel(name string, other *belaytype.ModelSubstitution, overloaded bool) *earlyStop {
	return &earlyStop{verdict: verdict.Verdict{Class: verdict.WrongModel, Retryable: overloaded, Rule: "require-model", Evidence: message.OtherModel(name, other.Asked, other.Used)}}
}
