// Package table has what the tables of several commands have in common: columns, and the text of their cells. The columns say what a narrow
// terminal shows: what was run when, how it ended and what it cost is always there; the rest is cut, and then left out in the order of Drop.
package table

import (
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/term"
)

// Columns that several tables have.
var (
	Time    = term.Column{Heading: "TIME", Kind: term.Time, Min: 8}
	Run     = term.Column{Heading: "RUN", Kind: term.Whole, Min: 8, Style: term.Faint}
	Command = term.Column{Heading: "COMMAND", Kind: term.Path, Min: 7}
	Labels  = term.Column{Heading: "LABELS", Drop: 6, Min: 10}
	Result  = term.Column{Heading: "RESULT", Kind: term.Whole, Min: 10, Gist: withoutStatus}
	Tokens  = term.Column{Heading: "TOKENS", Kind: term.Number, Min: 14, Short: shortTokens, ShortHeading: "TOKENS IN/OUT"}
	Cost    = term.Column{Heading: "COST", Kind: term.Number, Min: 8}
	Error   = term.Column{Heading: "ERROR", Kind: term.Note, Style: term.Bad}
	Why     = term.Column{Heading: "WHY IT ENDED", Kind: term.Note, Style: term.Bad}
	// Machine is in the tables of a fleet.
	Machine = term.Column{Heading: "MACHINE", Kind: term.Path, Min: 6}
)

// Number is a column of numbers that is left out where it has no room; 0 means never.
func Number(heading string, drop int) term.Column {
	return term.Column{Heading: heading, Kind: term.Number, Drop: drop}
}

// Profile is left out where it says no more than the command in the column after it.
func Profile(at int) term.Column {
	return term.Column{Heading: "PROFILE", Drop: 7, Redundant: func(row []string) bool { return row[at] == row[at+1] || row[at] == generic.Name }}
}

// WithMachine has the column of machines behind the first.
func WithMachine(columns []term.Column) []term.Column {
	columns = slices.Insert(slices.Clone(columns), 1, Machine)
	for i := range columns {
		if redundant := columns[i].Redundant; redundant != nil {
			columns[i].Redundant = func(row []string) bool { return redundant(slices.Delete(slices.Clone(row), 1, 2)) }
		}
	}
	return columns
}

// withoutStatus is the class of a result, which stands before a comma.
func withoutStatus(result string) string {
	class, _, _ := strings.Cut(result, ",")
	return class
}

// shortTokens is "1,234 in, 56 out" as 1,234/56.
func shortTokens(text string) string {
	in, out, ok := strings.Cut(strings.TrimSuffix(text, " out"), " in, ")
	if !ok {
		return text
	}
	return in + "/" + out
}
