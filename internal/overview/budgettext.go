package overview

import (
	"fmt"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/term"
)

// Row is a row of the table of budgets: name, what is spent and left, limit and state.
func (e *Budget) Row() []term.Piece {
	limit, left := "–", "–"
	if e.Limit != nil {
		limit, left = fmt.Sprintf("$%g a %s", *e.Limit, string(e.Window)), Spent(*e.Left, 0)
	}
	return term.Cells(e.Name, Spent(e.Spent, e.Unknown), left, limit, term.Styled(e.Style(), e.status()))
}

// status says in words how the budget stands.
func (e *Budget) status() string {
	text, ends := "open", ", new window at "
	switch {
	case e.Closed:
		text, ends = "closed", " until "
	case e.Warning:
		text = fmt.Sprintf("warning: %.0f %% spent", 100*e.Spent / *e.Limit)
	}
	if e.Ends != nil {
		text += ends + message.When(e.Ends.Time)
	}
	if e.Closed && e.Left != nil && *e.Left > 0 && e.Unknown > 0 { // that is why
		text += fmt.Sprintf(" (cost of %s unknown)", message.Count(e.Unknown, "attempt"))
	}
	return text
}

// Bar shows how much of the limit is spent.
func (e *Budget) Bar() term.Bar {
	if e.Limit == nil {
		return term.Bar{}
	}
	return term.Bar{Length: 1, Full: e.Spent / *e.Limit, Style: e.Style(), Rest: term.Faint}
}

// Style is how its state and its bar look.
func (e *Budget) Style() term.Style {
	switch {
	case e.Closed:
		return term.Bad
	case e.Warning:
		return term.Warning
	}
	return term.Good
}

// Spent is an amount, of which some attempts may not have told their part.
func Spent(usd float64, unknown int) string {
	text := fmt.Sprintf("$%.2f", usd)
	if usd > 0 && usd < 0.01 {
		text = fmt.Sprintf("$%.4f", usd)
	}
	if unknown > 0 {
		text = fmt.Sprintf("≥ %s, %d unknown", text, unknown)
	}
	return text
}
