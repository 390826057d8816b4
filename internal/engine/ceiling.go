package engine

import (
	"cmp"
	"fmt"
	"os"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// atCeiling concludes that the attempt was ended for a ceiling. That says nothing of the service; if it is the last one, it is worth trying later.
func (j *judgement) atCeiling(e *earlyStop) {
	j.verdict, j.message, j.tell = e.verdict, e.verdict.Evidence, e.tell
	j.expired, j.code, j.stopCode = true, cmp.Or(j.code, 1), CodeTryLater
}

// watchCeilings has what is started watched.
func watchCeilings(c *call, spec *supervise.Spec) {
	spec.MaxMemory, spec.Using = c.runner.Ceilings.Memory, c.live.using
	if spec.MinFree = c.runner.Ceilings.FreeDisk; spec.MinFree > 0 {
		spec.Disks = disks(c)
	}
}

// disks are where a command writes: the directory that it works in, its home, and that of temporary files.
func disks(c *call) []string {
	home, _ := os.UserHomeDir() // what cannot be asked does not count
	return []string{c.dir(), home, os.TempDir()}
}

// diskRefusal is why an attempt is not started: a disk has less free than must stay free; nil if none has.
func diskRefusal(c *call) *refusal {
	limit := c.runner.Ceilings.FreeDisk
	if limit <= 0 {
		return nil
	}
	x := supervise.FreeDisk(disks(c), limit)
	if x.Value >= limit {
		return nil
	}
	why := fmt.Sprintf("%s was not started: %s", c.command.name(), lowDisk(&x))
	return &refusal{code: -1, stopCode: CodeTryLater, message: why, barred: true, stop: &retry.Error{Cause: retry.ErrPermanent},
		verdict: verdict.Verdict{Class: verdict.Resources, Retryable: true, Rule: RuleResources, Evidence: why, Sent: verdict.SentNo}}
}

// exceeded is why an attempt was ended that used too much memory or disk.
func exceeded(name string, x *supervise.Excess) *earlyStop {
	value, limit := printable.Size(x.Value), printable.Size(x.Limit)
	if x.Disk != "" {
		return ceiling(verdict.Resources, "min-free-disk", fmt.Sprintf("%s was terminated: %s", name, lowDisk(x)),
			fmt.Sprintf("You were stopped because only %s were free on the disk of %s, and %s must stay free. Remove what you have written there and do not need, and write less.",
				value, x.Disk, limit))
	}
	largest := x.Names(message.MemoryOf)
	return ceiling(verdict.Resources, "max-memory", fmt.Sprintf("%s %s and was terminated. Largest: %s", name, message.UsedMemory(x.Value, x.Limit), largest),
		fmt.Sprintf("You were stopped, with all that you had started, because that used %s of memory, and the limit is %s. The largest processes were: %s. Go on in a way that needs less memory.",
			value, limit, largest))
}

// lowDisk says that there is less space on a disk than must stay free.
func lowDisk(x *supervise.Excess) string {
	return fmt.Sprintf("only %s are free on the disk of %s (limit %s)", printable.Size(x.Value), x.Disk, printable.Size(x.Limit))
}
