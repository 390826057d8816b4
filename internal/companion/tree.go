//go:build !norecord

package companion

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/term"
)

// tree is belay log --tree: runs below the run that they were started in, with what both cost.
func (q *question) tree(ctx context.Context) error {
	if id := q.filter.Invocation; id != "" {
		inv, err := q.oneRun(ctx)
		if err != nil {
			return err
		}
		q.filter = record.Filter{Invocation: inv.ID}
	}
	live := q.underWay()
	nodes, err := q.db.Tree(ctx, q.filter, live)
	if err != nil {
		return err
	}
	stems := branches(nodes)
	return listing[record.Node]{"", treeColumns, func(i int, n record.Node) []term.Piece {
		status, ended, attempts, total := term.Styled(term.Plain, "running"), "", "", ""
		switch {
		case n.Missing && slices.ContainsFunc(live, func(inv record.Invocation) bool { return inv.ID == n.ID }):
		case n.Missing:
			status = term.Styled(term.Faint, message.NotOnRecord())
		default:
			status, ended, attempts = result(n.Status, n.Class), q.clock(n.Ended), fmt.Sprint(n.Attempts)
		}
		if n.Total.Runs > 1 {
			total = spentInTree(n.Total)
		}
		return term.Cells(ended, shortID(n.ID), stems[i]+oneLine(n.Command, 100), labelText(n.Name, n.Tags, n.Task), status, attempts,
			span(n.ResponseMS), spentBy(n.Usage), total, oneLine(n.Error, 200))
	}, func(n record.Node) string { return n.Machine }}.write(q, nodes)
}

// underWay are the runs that have not ended.
func (q *question) underWay() (list []record.Invocation) {
	records, _ := q.state.Records().List() // without them, less is known of runs around others
	for _, r := range records {
		if r.IsRun() {
			list = append(list, record.Invocation{ID: r.ID, Started: r.Started, Profile: r.Profile, Command: r.Command, Parent: r.Parent, Name: r.Name,
				Tags: r.Tags, Project: r.Project, Task: record.Task{Batch: r.Batch, Task: r.Task, Line: r.Line}})
		}
	}
	return list
}

// branches are what stands before the commands of a tree.
func branches(nodes []record.Node) (list []string) {
	var open []bool // whether the run at each depth has another below it
	for _, n := range nodes {
		open = append(open[:min(n.Depth, len(open))], !n.Last)
		var b strings.Builder
		for depth := 1; depth <= n.Depth; depth++ {
			switch {
			case depth < n.Depth && open[depth]:
				b.WriteString("│ ")
			case depth < n.Depth:
				b.WriteString("  ")
			case open[depth]:
				b.WriteString("├ ")
			default:
				b.WriteString("└ ")
			}
		}
		list = append(list, b.String())
	}
	return list
}

// spentInTree is the cost of a run with those inside it: ≥ stands before what is not all.
func spentInTree(t record.Total) string {
	runs := fmt.Sprintf("%d runs", t.Runs)
	if t.UnknownCosts > 0 {
		t.Usage.Unknown = true
	}
	switch text := spentBy(t.Usage); text {
	case "":
		return runs
	case "unknown":
		return "cost unknown, " + runs
	default:
		return text + ", " + runs
	}
}

// labelText are labels in a table.
func labelText(name string, tags map[string]string, task record.Task) string {
	text := label.Labels{Name: name, Tags: tags}.String()
	if task.Batch != "" {
		text = strings.TrimSpace(text + " " + message.TaskOfBatch(filepath.Base(task.Batch), task.Task, task.Line))
	}
	return oneLine(text, 60)
}
