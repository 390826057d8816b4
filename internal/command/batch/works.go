package batch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/message"
)

// works is what has become of the work of tasks that had trees of their own.
type works struct {
	landed, changed belaytype.Worktree // what they have changed together
	tasks           int                // that have landed
	branches        []string           // of those that have not
}

// worked takes note of the work of a task that has ended.
func (v *batchView) worked(w *belaytype.Worktree) {
	v.mu.Lock()
	defer v.mu.Unlock()
	t, sum := &v.trees, &v.trees.changed
	switch {
	case w.Files == 0 || w.State == "interrupted":
		return
	case w.LandedOn != "":
		sum = &t.landed
		t.tasks, sum.LandedOn = t.tasks+1, w.LandedOn
	case !slices.Contains(t.branches, w.Branch):
		t.branches = append(t.branches, w.Branch)
	}
	sum.Commits, sum.Files, sum.Added, sum.Deleted = sum.Commits+w.Commits, sum.Files+w.Files, sum.Added+w.Added, sum.Deleted+w.Deleted
}

// lines say it at the end of the batch.
func (t *works) lines() (list []string) {
	what := func(w *belaytype.Worktree) string { return message.Changed(w.Commits, w.Files, w.Added, w.Deleted) }
	if t.tasks > 0 {
		list = append(list, fmt.Sprintf("landed on %s: %s (%s)", t.landed.LandedOn, message.Count(t.tasks, "task"), what(&t.landed)))
	}
	if n := len(t.branches); n > 0 {
		const shown = 5
		names := strings.Join(t.branches[:min(n, shown)], ", ")
		if n > shown {
			names += ", …"
		}
		list = append(list, fmt.Sprintf("not landed: %s, on %s (%s). See them with: belay trees", message.Count(n, "task"), names, what(&t.changed)))
	}
	return list
}
