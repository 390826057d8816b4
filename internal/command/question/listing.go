package question

import (
	"slices"

	"github.com/belay-run/belay/internal/command/table"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/term"
)

// Listing is how rows of one kind are listed.
type Listing[T any] struct {
	What    string // what they are called where there are none
	Columns []term.Column
	Row     func(i int, one T) []term.Piece // of the i-th
	Machine func(one T) string              // that a row comes from, in a fleet
}

// Write writes a list. With --follow, later rows come below the same headings.
func (l Listing[T]) Write(q *Question, list []T) error {
	switch {
	case q.JSON:
		return term.JSONLines(q.Out, list)
	case len(list) == 0:
		return term.Line(q.Out, message.NothingOnRecord(l.What))
	}
	columns := l.Columns
	if q.On("fleet") {
		columns = table.WithMachine(columns)
	}
	var rows [][]term.Piece
	for i, one := range list {
		row := l.Row(i, one)
		if q.On("fleet") { // behind the first column
			row = slices.Insert(row, 1, term.Styled(term.Plain, table.OneLine(l.Machine(one), 40)))
		}
		rows = append(rows, row)
	}
	if q.Following != nil {
		return q.Following.Write(q.Out, columns, rows)
	}
	return term.Table(q.Out, columns, rows)
}
