package stats

import (
	"cmp"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/command/table"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/term"
)

// writeText shows what is in all, and the groups with bars.
func writeText(q *question.Question, by record.Group, list []record.Figures, total record.Figures, first bool) error {
	empty := total.Invocations+total.Attempts+total.Refused+total.Faults == 0
	if first {
		text := summary(total)
		if empty {
			text = "nothing on record for this period"
		}
		if err := term.Printf(q.Out, "%s\n", folded(text, term.Columns(q.Out))); err != nil {
			return err
		}
	}
	if empty {
		return nil
	}
	if by == record.ByModel && q.Text("by") == "" && len(list) == 1 && list[0].Key == "" {
		return nil // no model is known
	}
	if by == record.ByModel {
		slices.SortStableFunc(list, func(a, b record.Figures) int { return cmp.Compare(b.Cost(), a.Cost()) })
	}
	term.Printf(q.Out, "\n")
	return sheet(by, list).Write(q.Out)
}

// sheet is the table of what was added up by a group.
func sheet(by record.Group, list []record.Figures) term.Sheet {
	heading := strings.ToUpper(strings.TrimPrefix(string(by), "tag."))
	key := term.Column{Heading: heading, Kind: term.Path, Min: 24}
	if by == record.ByDay || by == record.ByClass {
		key.Kind = term.Whole
	}
	t := term.Sheet{Columns: []term.Column{key, table.Cost, table.Tokens, table.Number("RUNS", 0), table.Number("OK", 0)}}
	shown := record.Shown()
	for _, c := range shown {
		column := table.Number(c.Heading, c.Drop)
		if c.Look == record.Bad {
			column.Style = term.Bad
		}
		t.Columns = append(t.Columns, column)
	}
	at := 5
	bars := runBars(list)
	if spent := costBars(list); spent != nil && (by == record.ByDay || by == record.ByModel) {
		at, bars = 2, spent
	}
	t.Columns = slices.Insert(t.Columns, at, term.Column{Bars: bars, Min: 8, Drop: 3})
	for _, f := range list {
		name := f.Key
		if by == record.ByClass {
			name = message.ClassName(name, 0)
		}
		row := term.Cells(cmp.Or(table.OneLine(name, 40), "–"), spentText(f), table.TokensOf(f.Usage.InputTokens, f.Usage.OutputTokens), table.Thousands(f.Invocations), rateCell(f))
		for _, c := range shown {
			row = append(row, term.Styled(term.Plain, figureText(c, f)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// figureText is a figure in its column.
func figureText(c *record.Figure, f record.Figures) string {
	n, _ := c.Count(f)
	switch c.Look {
	case record.Milliseconds:
		return table.Span(n)
	case record.Bytes:
		return table.Size(n)
	case record.Always:
		return table.Thousands(n)
	}
	return table.NonZero(n)
}

// costBars are as long as what was spent; nil if nothing was.
func costBars(list []record.Figures) []term.Bar {
	most := 0.0
	for _, f := range list {
		most = max(most, f.Cost())
	}
	if most == 0 {
		return nil
	}
	bars := make([]term.Bar, len(list))
	for i, f := range list {
		bars[i] = term.Bar{Length: f.Cost() / most, Full: 1, Style: term.Accent}
	}
	return bars
}

// runBars are as long as there were runs, and as full as they succeeded.
func runBars(list []record.Figures) []term.Bar {
	most := int64(1)
	for _, f := range list {
		most = max(most, f.Invocations)
	}
	bars := make([]term.Bar, len(list))
	for i, f := range list {
		bars[i] = term.Bar{Length: float64(f.Invocations) / float64(most), Full: f.Rate(), Style: term.Good, Rest: term.Bad}
	}
	return bars
}
