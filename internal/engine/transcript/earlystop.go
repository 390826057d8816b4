package transcript

import (
	"errors"
	"fmt"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// EarlyStop is why an attempt was stopped before its time: the CLI would go on with retries that we do not allow, with
// model calls that cost more than they may, with another model than the one that is required, or above a ceiling.
type EarlyStop struct {
	Verdict verdict.Verdict
	Stop    *retry.Error // nil if that is for the verdict to say
	Tell    string       // of a ceiling: what an agent that continues is told; else empty
}

// ForModel says that it was stopped for its model.
func (e *EarlyStop) ForModel() bool { return e != nil && e.Verdict.Class == verdict.WrongModel }

// ForCost says that it was stopped for its cost.
func (e *EarlyStop) ForCost() bool {
	if e == nil || e.Stop == nil {
		return false
	}
	_, ok := errors.AsType[*belaytype.MaxCostReached](e.Stop.Cause)
	return ok
}

// AboveCeiling is why an attempt is ended for one: why is a sentence that names the command, tell what an agent that continues is told beside that it
// shall, and rule names the setting.
func AboveCeiling(class verdict.Class, rule, why, tell string) *EarlyStop {
	return &EarlyStop{Verdict: verdict.Verdict{Class: class, Retryable: true, Rule: rule, Evidence: why}, Tell: tell}
}

// ForCeiling says that it was stopped for a ceiling.
func (e *EarlyStop) ForCeiling() bool { return e != nil && e.Tell != "" }

// otherModel is why an attempt is stopped in which another model works than the one that is required.
func otherModel(name string, other *belaytype.ModelSubstitution, overloaded bool) *EarlyStop {
	return &EarlyStop{Verdict: verdict.Verdict{Class: verdict.WrongModel, Retryable: overloaded, Rule: "require-model", Evidence: message.OtherModel(name, other.Asked, other.Used)}}
}

// Exceeded is why an attempt was ended that used too much memory or disk.
func Exceeded(name string, x *supervise.Excess) *EarlyStop {
	value, limit := printable.Size(x.Value), printable.Size(x.Limit)
	if x.Disk != "" {
		return AboveCeiling(verdict.Resources, "min-free-disk", fmt.Sprintf("%s was terminated: %s", name, LowDisk(x)),
			fmt.Sprintf("You were stopped because only %s were free on the disk of %s, and %s must stay free. Remove what you have written there and do not need, and write less.",
				value, x.Disk, limit))
	}
	largest := x.Names(message.MemoryOf)
	return AboveCeiling(verdict.Resources, "max-memory", fmt.Sprintf("%s %s and was terminated. Largest: %s", name, message.UsedMemory(x.Value, x.Limit), largest),
		fmt.Sprintf("You were stopped, with all that you had started, because that used %s of memory, and the limit is %s. The largest processes were: %s. Go on in a way that needs less memory.",
			value, limit, largest))
}

// LowDisk says that there is less space on a disk than must stay free.
func LowDisk(x *supervise.Excess) string {
	return fmt.Sprintf("only %s are free on the disk of %s (limit %s)", printable.Size(x.Value), x.Disk, printable.Size(x.Limit))
}
