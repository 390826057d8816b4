//go:build !norecord

package companion

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/term"
)

// stats is belay stats.
func (q *question) stats(ctx context.Context) error {
	by, asCSV := q.text("by"), q.on("csv")
	if asCSV && q.json {
		return &usageError{err: message.Error(message.NotTogether("--csv", "--json"))}
	}
	var groups []record.Group
	if by != "" {
		group, err := record.ParseGroup(by)
		if err != nil {
			return &usageError{err: fmt.Errorf("--by: %w", err)}
		}
		if group == record.ByMachine && !q.on("fleet") {
			return &usageError{err: message.Error(message.NeedsFleet("--by machine"))}
		}
		groups = []record.Group{group}
	} else {
		groups = []record.Group{record.ByDay, record.ByModel, record.ByProfile, record.ByClass} // what was spent comes first
		if q.on("fleet") && q.filter.Machine == "" {
			groups = slices.Insert(groups, 1, record.ByMachine)
		}
		if asCSV || q.json {
			groups = groups[:1]
		}
	}
	for i, group := range groups {
		list, total, err := q.db.Stats(ctx, q.filter, group, q.now.Location())
		if err != nil {
			return err
		}
		switch {
		case asCSV:
			err = q.statsCSV(group, list, total)
		case q.json:
			err = q.statsJSON(group, list, total)
		default:
			err = q.statsText(group, list, total, i == 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// figuresJSON is a group for programs. Fields are only ever added.
type figuresJSON struct {
	record.Figures
	Rate *float64 `json:"success_rate"` // null if none has ended
}

func asJSON(f record.Figures) figuresJSON {
	j := figuresJSON{Figures: f}
	if f.Invocations > 0 {
		rate := f.Rate()
		j.Rate = &rate
	}
	return j
}

func (q *question) statsJSON(by record.Group, list []record.Figures, total record.Figures) error {
	groups := []figuresJSON{}
	for _, f := range list {
		groups = append(groups, asJSON(f))
	}
	total.Key = "total"
	return term.JSON(q.out, struct {
		SchemaVersion int           `json:"schema_version"`
		Since         *time.Time    `json:"since"`
		Until         *time.Time    `json:"until"`
		Zone          string        `json:"zone"`
		By            record.Group  `json:"by"`
		Groups        []figuresJSON `json:"groups"`
		Total         figuresJSON   `json:"total"`
	}{1, bound(q.filter.Since), bound(q.filter.Until), q.now.Format("-07:00"), by, groups, asJSON(total)})
}

// bound is a time for JSON; null for none.
func bound(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC())
}

func (q *question) statsCSV(by record.Group, list []record.Figures, total record.Figures) error {
	var b strings.Builder
	w := csv.NewWriter(&b)
	figures := record.InCSV(total)
	row := []string{string(by)}
	for _, c := range figures {
		row = append(row, c.CSV)
	}
	w.Write(row)
	for _, f := range list {
		row := []string{printable.Line(f.Key)}
		for _, c := range figures {
			n, ok := c.Count(f)
			switch {
			case ok:
				row = append(row, strconv.FormatInt(n, 10))
			case f.Usage.CostUSD == nil:
				row = append(row, "")
			default:
				row = append(row, strconv.FormatFloat(*f.Usage.Rounded().CostUSD, 'f', -1, 64))
			}
		}
		w.Write(row)
	}
	w.Flush()
	return errors.Join(w.Error(), term.Text(q.out, b.String()))
}

// statsText shows what is in all, and the groups with bars.
func (q *question) statsText(by record.Group, list []record.Figures, total record.Figures, first bool) error {
	empty := total.Invocations+total.Attempts+total.Refused+total.Faults == 0
	if first {
		text := summary(total)
		if empty {
			text = "nothing on record for this period"
		}
		if err := term.Printf(q.out, "%s\n", folded(text, term.Columns(q.out))); err != nil {
			return err
		}
	}
	if empty {
		return nil
	}
	if by == record.ByModel && q.text("by") == "" && len(list) == 1 && list[0].Key == "" {
		return nil // no model is known
	}
	if by == record.ByModel {
		slices.SortStableFunc(list, func(a, b record.Figures) int { return cmp.Compare(b.Cost(), a.Cost()) })
	}
	term.Printf(q.out, "\n")
	return statsSheet(by, list).Write(q.out)
}

// statsSheet is the table of what was added up by a group.
func statsSheet(by record.Group, list []record.Figures) term.Sheet {
	heading := strings.ToUpper(strings.TrimPrefix(string(by), "tag."))
	key := term.Column{Heading: heading, Kind: term.Path, Min: 24}
	if by == record.ByDay || by == record.ByClass {
		key.Kind = term.Whole
	}
	sheet := term.Sheet{Columns: []term.Column{key, costColumn, tokensColumn, number("RUNS", 0), number("OK", 0)}}
	shown := record.Shown()
	for _, c := range shown {
		column := number(c.Heading, c.Drop)
		if c.Look == record.Bad {
			column.Style = term.Bad
		}
		sheet.Columns = append(sheet.Columns, column)
	}
	at := 5
	bars := runBars(list)
	if spent := costBars(list); spent != nil && (by == record.ByDay || by == record.ByModel) {
		at, bars = 2, spent
	}
	sheet.Columns = slices.Insert(sheet.Columns, at, term.Column{Bars: bars, Min: 8, Drop: 3})
	for _, f := range list {
		row := term.Cells(cmp.Or(oneLine(f.Key, 40), "–"), spentText(f), tokenText(f.Usage.InputTokens, f.Usage.OutputTokens), thousands(f.Invocations), rateCell(f))
		for _, c := range shown {
			row = append(row, term.Styled(term.Plain, figureText(c, f)))
		}
		sheet.Rows = append(sheet.Rows, row)
	}
	return sheet
}

// figureText is a figure in its column.
func figureText(c *record.Figure, f record.Figures) string {
	n, _ := c.Count(f)
	switch c.Look {
	case record.Milliseconds:
		return span(n)
	case record.Bytes:
		return sizeText(n)
	case record.Always:
		return thousands(n)
	}
	return countText(n)
}

// sizeText is a number of bytes as text; empty for 0.
func sizeText(n int64) string {
	if n == 0 {
		return ""
	}
	return term.Size(n)
}

// countText is a count as text; empty for 0.
func countText(n int64) string {
	if n == 0 {
		return ""
	}
	return thousands(n)
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

// folded is a text in lines of at most that many columns, broken behind commas and semicolons, as far as there are any; 0 columns leave it
// on one.
func folded(text string, columns int) string {
	var b strings.Builder
	room := columns
	for i, part := range strings.SplitAfter(strings.ReplaceAll(text, "; ", ";\x00"), ", ") {
		for j, part := range strings.Split(part, "\x00") {
			width := printable.Width(strings.TrimRight(part, " "))
			switch {
			case i == 0 && j == 0, columns <= 0 && j == 0:
			case columns > 0 && width > room:
				b.WriteString("\n  ")
				room = columns - 2
			case j > 0:
				b.WriteString(" ")
				room--
			}
			b.WriteString(part)
			room -= printable.Width(part)
		}
	}
	return strings.ReplaceAll(b.String(), " \n", "\n")
}

func summary(f record.Figures) string {
	text := fmt.Sprintf("%s, %s ok, %s", count64(f.Invocations, "run"), rate(f), count64(f.Attempts, "attempt"))
	if f.Requests > 0 {
		text += ", " + count64(f.Requests, "request")
	}
	if f.Refused > 0 {
		text += fmt.Sprintf(", %s not started", thousands(f.Refused))
	}
	for _, c := range []struct {
		n    int64
		what string
	}{{f.DoneFirst, "done at the first try"}, {f.DoneLater, "done after feedback"}, {f.NotDone, "not done"}} {
		if c.n > 0 {
			text += fmt.Sprintf(", %s %s", thousands(c.n), c.what)
		}
	}
	if f.WaitMS > 0 {
		text += ", waited " + span(f.WaitMS)
	}
	if t := tokenText(f.Usage.InputTokens, f.Usage.OutputTokens); t != "" {
		text += ", tokens " + t
	}
	text += spentInAll(f)
	if f.Faults > 0 {
		text += "; hooks and MCP servers failed " + times(f.Faults)
	}
	return text
}

// spentInAll is what was spent, behind a comma: "≥ $6.03, 4 attempts unknown". Empty if nothing was.
func spentInAll(f record.Figures) (text string) {
	known := dollars(f.Usage.CostUSD)
	if known != "" {
		if text = ", "; f.UnknownCosts > 0 {
			text += "≥ "
		}
		if text += known; f.EstimatedCosts > 0 {
			text += " (estimated)"
		}
	}
	switch {
	case f.UnknownCosts > 0 && known == "":
		text += ", " + fmt.Sprintf("cost of %s unknown", count64(f.UnknownCosts, "attempt"))
	case f.UnknownCosts > 0:
		text += fmt.Sprintf(", %s unknown", count64(f.UnknownCosts, "attempt"))
	}
	return text
}

// spentText is what is known of the cost: ~ stands before what is estimated, or a part of it, ≥ if that of an attempt is not
// known.
func spentText(f record.Figures) string {
	text := dollars(f.Usage.CostUSD)
	switch {
	case text == "" && f.UnknownCosts > 0:
		return "unknown"
	case text == "":
		return ""
	}
	if f.EstimatedCosts > 0 {
		text = "~" + text
	}
	if f.UnknownCosts > 0 {
		text = "≥ " + text
	}
	return text
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return thousands(n) + " times"
}

func count64(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}

// rate never rounds up to 100 %: one failure of many must show.
func rate(f record.Figures) string {
	switch {
	case f.Invocations == 0:
		return "–"
	case f.Succeeded == f.Invocations:
		return "100 %"
	}
	return fmt.Sprintf("%.1f %%", min(f.Rate()*100, 99.9))
}

// rateCell is the rate as a table shows it.
func rateCell(f record.Figures) term.Piece {
	switch text := rate(f); {
	case f.Invocations > 0 && f.Succeeded == f.Invocations:
		return term.Styled(term.Good, text)
	case f.Invocations > 0 && f.Rate() < 0.0005: // it reads 0.0 %
		return term.Styled(term.Bad, text)
	default:
		return term.Styled(term.Plain, text)
	}
}
