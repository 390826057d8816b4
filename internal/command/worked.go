package command

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
)

// Worked says what has become of the work of a run that had a tree of its own, and what to type next.
func Worked(w *belaytype.Worktree, run string) (lines []string) {
	run = printable.ShortID(run)
	what := message.Changed(w.Commits, w.Files, w.Added, w.Deleted)
	branch := "branch " + w.Branch
	switch {
	case w.LandedOn != "":
		lines = append(lines, fmt.Sprintf("landed on %s: %s", w.LandedOn, what))
	case w.State == "interrupted":
		lines = append(lines, "the work so far is in "+printable.Line(w.Path)+". See it with: belay trees show "+run)
	case w.Files == 0:
		lines = append(lines, "nothing was changed in "+printable.Line(w.Path))
	case w.State == "conflict":
		lines = append(lines, fmt.Sprintf("the work is on %s (%s). To merge it: git merge %s", branch, what, printable.Quoted(w.Branch)))
	case w.State == "failed":
		lines = append(lines, fmt.Sprintf("the unfinished work is on %s (%s). See it with: belay trees show %s", branch, what, run))
	default:
		lines = append(lines, fmt.Sprintf("the work is on %s (%s). See it with: belay trees show %s; land it with: belay trees land %s", branch, what, run, run))
	}
	if len(w.Nested) > 0 {
		lines = append(lines, "not committed, because it is a repository of its own: "+printable.Line(strings.Join(w.Nested, ", ")))
	}
	for _, why := range w.Kept {
		lines = append(lines, fmt.Sprintf("a retry got another tree, because %s; the one before is kept", printable.Line(why)))
	}
	return lines
}
