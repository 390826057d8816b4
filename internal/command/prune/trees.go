package prune

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/command/table"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/worktree"
)

// trees removes the trees in which everything is on a branch, or says what it would remove.
func trees(q *question.Question, dry bool) error {
	list, err := worktree.Of(q.State.Dir, nil).List()
	var removed, bytes int64
	left := ""
	for _, t := range list {
		path, size := t.Path, safefile.Size(t.Path)
		if t.State == worktree.Working || t.Take(time.Second) != nil {
			continue
		}
		kept, err := t.Prune(dry)
		t.Release()
		if err == nil && kept == "" {
			removed, bytes = removed+1, bytes+size
		} else if path != "" {
			left += " " + printable.Quoted(path)
			q.Say(printable.Line(fmt.Sprintf("%s is kept: %s", path, cmp.Or(kept, fmt.Sprint(err)))))
		}
	}
	if left != "" {
		q.Say("to drop what is kept, with all that is only there: belay trees drop" + left)
	}
	how := map[bool]string{false: "%s removed, %s freed", true: "%s would be removed, %s would be freed"}[dry]
	return errors.Join(err, term.Line(q.Out, fmt.Sprintf(how, table.Count(removed, "tree"), term.Size(bytes))))
}
