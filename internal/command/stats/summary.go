package stats

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/internal/command/table"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/term"
)

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
	text := fmt.Sprintf("%s, %s ok, %s", table.Count(f.Invocations, "run"), rate(f), table.Count(f.Attempts, "attempt"))
	if f.Requests > 0 {
		text += ", " + table.Count(f.Requests, "request")
	}
	if f.Refused > 0 {
		text += fmt.Sprintf(", %s not started", table.Thousands(f.Refused))
	}
	for _, c := range []struct {
		n    int64
		what string
	}{{f.DoneFirst, "done at the first try"}, {f.DoneLater, "done after feedback"}, {f.NotDone, "not done"}} {
		if c.n > 0 {
			text += fmt.Sprintf(", %s %s", table.Thousands(c.n), c.what)
		}
	}
	if f.WaitMS > 0 {
		text += ", waited " + table.Span(f.WaitMS)
	}
	if t := table.TokensOf(f.Usage.InputTokens, f.Usage.OutputTokens); t != "" {
		text += ", tokens " + t
	}
	text += spentInAll(f)
	if f.Faults > 0 {
		text += "; hooks and MCP servers failed " + table.Times(f.Faults)
	}
	return text
}

// spentInAll is what was spent, behind a comma: "≥ $6.03, 4 attempts unknown". Empty if nothing was.
func spentInAll(f record.Figures) (text string) {
	known := table.Dollars(f.Usage.CostUSD)
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
		text += ", " + fmt.Sprintf("cost of %s unknown", table.Count(f.UnknownCosts, "attempt"))
	case f.UnknownCosts > 0:
		text += fmt.Sprintf(", %s unknown", table.Count(f.UnknownCosts, "attempt"))
	}
	return text
}

// spentText is what is known of the cost: ~ stands before what is estimated, or a part of it, ≥ if that of an attempt is not
// known.
func spentText(f record.Figures) string {
	text := table.Dollars(f.Usage.CostUSD)
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
