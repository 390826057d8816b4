package engine

import (
	"cmp"
	"fmt"
	"os"

	"github.com/belay-run/belay/internal/engine/admission"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/engine/transcript"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// atCeiling concludes that the attempt was ended for a ceiling. That says nothing of the service; if it is the last one, it is worth trying later.
func (j *judgement) atCeiling(e *transcript.EarlyStop) {
	j.verdict, j.message, j.tell = e.Verdict, e.Verdict.Evidence, e.Tell
	j.expired, j.code, j.stopCode = true, cmp.Or(j.code, 1), CodeTryLater
}

// watchCeilings has what is started watched.
func watchCeilings(c *call.Call, spec *supervise.Spec) {
	spec.MaxMemory, spec.Using = c.Settings.Ceilings.Memory, c.Live.Using
	if spec.MinFree = c.Settings.Ceilings.FreeDisk; spec.MinFree > 0 {
		spec.Disks = disks(c)
	}
}

// disks are where a command writes: the directory that it works in, its home, and that of temporary files.
func disks(c *call.Call) []string {
	home, _ := os.UserHomeDir() // what cannot be asked does not count
	return []string{c.Dir(), home, os.TempDir()}
}

// diskRefusal is why an attempt is not started: a disk has less free than must stay free; nil if none has.
func diskRefusal(c *call.Call) *admission.Refusal {
	limit := c.Settings.Ceilings.FreeDisk
	if limit <= 0 {
		return nil
	}
	x := supervise.FreeDisk(disks(c), limit)
	if x.Value >= limit {
		return nil
	}
	why := fmt.Sprintf("%s was not started: %s", c.Command.Name(), lowDisk(&x))
	return &admission.Refusal{Code: -1, StopCode: CodeTryLater, Message: why, Barred: true, Stop: &retry.Error{Cause: retry.ErrPermanent},
		Verdict: verdict.Verdict{Class: verdict.Resources, Retryable: true, Rule: RuleResources, Evidence: why, Sent: verdict.SentNo}}
}

// exceeded is why an attempt was ended that used too much memory or disk.
func exceeded(name string, x *supervise.Excess) *transcript.EarlyStop {
	value, limit := printable.Size(x.Value), printable.Size(x.Limit)
	if x.Disk != "" {
		return transcript.AboveCeiling(verdict.Resources, "min-free-disk", fmt.Sprintf("%s was terminated: %s", name, lowDisk(x)),
			fmt.Sprintf("You were stopped because only %s were free on the disk of %s, and %s must stay free. Remove what you have written there and do not need, and write less.",
				value, x.Disk, limit))
	}
	largest := x.Names(message.MemoryOf)
	return transcript.AboveCeiling(verdict.Resources, "max-memory", fmt.Sprintf("%s %s and was terminated. Largest: %s", name, message.UsedMemory(x.Value, x.Limit), largest),
		fmt.Sprintf("You were stopped, with all that you had started, because that used %s of memory, and the limit is %s. The largest processes were: %s. Go on in a way that needs less memory.",
			value, limit, largest))
}

// lowDisk says that there is less space on a disk than must stay free.
func lowDisk(x *supervise.Excess) string {
	return fmt.Sprintf("only %s are free on the disk of %s (limit %s)", printable.Size(x.Value), x.Disk, printable.Size(x.Limit))
}
