package log

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/command/table"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/term"
)

// tree is belay log --tree: runs below the run that they were started in, with what both cost.
func tree(ctx context.Context, q *question.Question) error {
	if id := q.Filter.Invocation; id != "" {
		inv, err := oneRun(ctx, q)
		if err != nil {
			return err
		}
		q.Filter = record.Filter{Invocation: inv.ID}
	}
	live := underWay(q)
	nodes, err := q.DB.Runs.Tree(ctx, q.Filter, live)
	if err != nil {
		return err
	}
	stems := branches(nodes)
	return question.Listing[record.Node]{Columns: treeColumns, Row: func(i int, n record.Node) []term.Piece {
		status, ended, attempts, total := term.Styled(term.Plain, "running"), "", "", ""
		switch {
		case n.Missing && slices.ContainsFunc(live, func(inv record.Invocation) bool { return inv.ID == n.ID }):
		case n.Missing:
			status = term.Styled(term.Faint, message.NotOnRecord())
		default:
			status, ended, attempts = table.ResultOf(n.Status, n.Class, n.ExitCode), q.Clock(n.Ended), fmt.Sprint(n.Attempts)
		}
		if n.Total.Runs > 1 {
			total = spentInTree(n.Total)
		}
		return term.Cells(ended, printable.ShortID(n.ID), stems[i]+table.OneLine(n.Command, 100), table.LabelsOf(n.Name, n.Tags, n.Task), status, attempts,
			table.Span(n.ResponseMS), table.CostOf(n.Usage), total, table.WhyOf(n.Class, n.Error, n.Why))
	}, Machine: func(n record.Node) string { return n.Machine }}.Write(q, nodes)
}

// underWay are the runs that have not ended.
func underWay(q *question.Question) (list []record.Invocation) {
	records, _ := q.State.Records().List() // without them, less is known of runs around others
	for _, r := range records {
		if r.IsRun() {
			list = append(list, record.Invocation{ID: r.ID, Started: r.Started, Profile: r.Profile, Command: r.Command, Parent: r.Parent, Labels: record.Labels{
				Name: r.Name, Tags: r.Tags, Project: r.Project}, Task: record.Task{Batch: r.Batch, Task: r.Task, Line: r.Line}})
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
	switch text := table.CostOf(t.Usage); text {
	case "":
		return runs
	case "unknown":
		return "cost unknown, " + runs
	default:
		return text + ", " + runs
	}
}

var treeColumns = []term.Column{table.Time, table.Run, {Heading: "COMMAND", Min: 12}, table.Labels, table.Result, table.Number("ATTEMPTS", 5), table.Number("TOOK", 4), table.Cost,
	table.Number("TOTAL", 0), table.Why}
