package command

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/worktree"
)

// Worked says what has become of the work of a run that had a tree of its own, and what to type next.
func Worked(w *belaytype.Worktree, run string) (lines []string) {
	run = printable.ShortID(run)
	what := worktree.Changed(w)
	show := "See it with: belay trees show " + run
	on := fmt.Sprintf("work is on branch %s (%s). ", w.Branch, what)
	first := "the " + on + show + "; land it with: belay trees land " + run
	switch {
	case w.LandedOn != "":
		first = fmt.Sprintf("landed on %s: %s", w.LandedOn, what)
	case w.State == "interrupted":
		first = "the work so far is in " + printable.Line(w.Path) + ". " + show
	case w.Files == 0:
		first = "nothing was changed in " + printable.Line(w.Path)
	case w.State == "conflict":
		first = "the " + on + "To merge it: git merge " + printable.Quoted(w.Branch)
	case w.State == "failed":
		first = "the unfinished " + on + show
	}
	lines = append(lines, first)
	if len(w.Nested) > 0 {
		names := printable.Line(strings.Join(w.Nested, ", "))
		lines = append(lines, "not committed, because it is a repository of its own: "+names)
	}
	for _, why := range w.Kept {
		why = printable.Line(why)
		lines = append(lines, fmt.Sprintf("a retry got another tree, because %s; the one before is kept", why))
	}
	return lines
}
