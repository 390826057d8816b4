package term

import "strings"

// Column is a column of a table: its heading, and what may be done to it where a terminal is too narrow for all columns.
type Column struct {
	Heading string
	Kind    Kind
	// Min is how many columns of the terminal a Phrase or Path keeps when it is cut; 0 means 8. A table that follows keeps as many free for
	// numbers to come. Bars with a Drop have at least as many, before columns with a higher Drop have any.
	Min int
	// Drop says which columns are left out first: those with the highest number. 0 is never left out.
	Drop int
	// Short is a shorter way to write a cell, and ShortHeading the heading over it. Gist is the part of a cell that must stay.
	Short        func(cell string) string
	ShortHeading string
	Gist         func(cell string) string
	// Redundant reports whether the cell says nothing that the rest of its row does not. If no cell of the column says more, it is left out
	// on a terminal.
	Redundant func(row []string) bool
	// Style is how cells look that have no style of their own.
	Style Style
	// Bars, one for each row, are drawn where a terminal has room for them. The rows have no cells for such a column.
	Bars []Bar
}

// Kind says what the cells of a column are.
type Kind int

const (
	Phrase Kind = iota // cut at its end
	Path               // cut in its middle, as are other names that differ at their ends
	Whole              // never cut: a class, a state, an id to copy
	Number             // never cut, and its end below the end of others
	Time               // never cut: 15:04:05, or 2006-01-02 15:04:05; a day that all share moves into the heading
	Note               // a text that may be long, as the last column: cut at its end, or below its row where next to nothing of it would fit
)

const (
	defaultMin = 8
	// minNote is how much of a note must fit beside the other columns; below that it has a line of its own.
	minNote = 30
)

// flexible reports whether cells may be cut.
func (c Column) flexible() bool { return c.Kind == Phrase || c.Kind == Path || c.Kind == Note }

// claim is how many columns of the terminal bars have before they are left out.
func (c Column) claim() int {
	if c.Bars == nil || c.Drop == 0 {
		return 0
	}
	return c.Min
}

// floor is how many columns a cell keeps when it is cut.
func (c Column) floor() int {
	switch {
	case c.Kind == Note:
		return minNote
	case c.Min > 0:
		return c.Min
	}
	return defaultMin
}

// short is the shorter way to write a cell of the column; nil if there is none.
func (c Column) short() func(string) string {
	if c.Short == nil && c.Kind == Time {
		return shortTime
	}
	return c.Short
}

func (c Column) gist() func(string) string { return c.Gist }

// shortTime is a time without the year and the seconds: 01-02 15:04. That of a day which is not named keeps its seconds.
func shortTime(cell string) string {
	if day, clock, ok := splitTime(cell); ok {
		return day[len("2006-"):] + " " + clock[:len("15:04")]
	}
	return cell
}

// splitTime takes 2006-01-02 15:04:05 apart.
func splitTime(cell string) (day, clock string, ok bool) {
	day, clock, ok = strings.Cut(cell, " ")
	return day, clock, ok && len(day) == len("2006-01-02") && len(clock) >= len("15:04") && strings.Count(day, "-") == 2
}
