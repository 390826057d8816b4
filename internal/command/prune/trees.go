package prune

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/command/table"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/worktree"
)

// trees removes the trees in which everything is on a branch.
func trees(q *question.Question) error {
	s := worktree.Of(q.State.Dir, nil)
	s.Rescue()
	list, err := s.List()
	if err != nil {
		return err
	}
	var removed, bytes int64
	var left []string
	for _, t := range list {
		size := t.Size()
		if err := t.Take(); err != nil {
			continue // a run is working in it
		}
		kept, err := t.Prune()
		t.Release()
		if err != nil {
			kept = err.Error()
		}
		if kept == "" {
			removed, bytes = removed+1, bytes+size
			continue
		}
		if t.Path != "" {
			left = append(left, printable.Quoted(t.Path))
			q.Say(fmt.Sprintf("%s is kept: %s", printable.Line(t.Path), printable.Line(kept)))
		}
	}
	if len(left) > 0 {
		q.Say("to drop what is kept, with all that is only there: belay trees drop " + strings.Join(left, " "))
	}
	return term.Line(q.Out, fmt.Sprintf("%s removed, %s freed", table.Count(removed, "tree"), term.Size(bytes)))
}
