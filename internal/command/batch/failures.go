package batch

import (
	"io"

	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/term"
)

// failuresTable shows failures by class.
func failuresTable(w io.Writer, failures []batch.Failure) error {
	rows := make([][]term.Piece, len(failures))
	for i, f := range failures {
		rows[i] = term.Cells(message.ClassName(f.Class, 0), f.Count, message.BatchTask(f.Task, f.Line), f.Error)
	}
	return term.Table(w, batchTable, rows)
}

// batchTable are the failures of a batch.
var batchTable = []term.Column{{Heading: "ERROR", Kind: term.Whole}, {Heading: "TASKS", Kind: term.Number}, {Heading: "FIRST", Kind: term.Path, Min: 12}, {Heading: "MESSAGE", Kind: term.Note}}
