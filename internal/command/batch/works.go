package batch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/worktree"
)

// works are what has become of the work of tasks that had trees of their own, by branch: a task may run more than once.
type works map[string]*belaytype.Worktree

// worked takes note of the work of a task that has ended.
func (v *batchView) worked(w *belaytype.Worktree) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.trees[w.Branch] = w
}

// lines say it at the end of the batch: what has landed, and what has not.
func (t works) lines() (list []string) {
	for _, landed := range []bool{true, false} {
		var sum belaytype.Worktree
		var branches []string
		for name, w := range t {
			if w.Files > 0 && w.State != "interrupted" && (w.LandedOn != "") == landed {
				branches, sum.LandedOn = append(branches, name), w.LandedOn
				sum.Commits, sum.Files = sum.Commits+w.Commits, sum.Files+w.Files
				sum.Added, sum.Deleted = sum.Added+w.Added, sum.Deleted+w.Deleted
			}
		}
		slices.Sort(branches)
		tasks := message.Count(len(branches), "task")
		if len(branches) > 5 {
			branches = append(branches[:5], "…")
		}
		switch {
		case len(branches) == 0:
		case landed:
			list = append(list, fmt.Sprintf("landed on %s: %s (%s)", sum.LandedOn, tasks, worktree.Changed(&sum)))
		default:
			const text = "not landed: %s, on %s (%s). See them with: belay trees"
			list = append(list, fmt.Sprintf(text, tasks, strings.Join(branches, ", "), worktree.Changed(&sum)))
		}
	}
	return list
}
