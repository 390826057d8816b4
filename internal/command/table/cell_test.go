package table_test

import (
	"testing"

	"github.com/belay-run/belay/internal/command/table"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/term/tabletest"
)

func TestCells_Styles(t *testing.T) {
	tabletest.Styles(t, map[term.Style][]term.Piece{
		term.Good:    {table.Outcome("ok"), table.Outcome("done")},
		term.Bad:     {table.Outcome("crash"), table.ResultOf("exhausted", "rate_limit", 1)},
		term.Warning: {table.Outcome("interrupted"), table.ResultOf("retry", "rate_limit", 1)},
		term.Plain:   {table.Outcome("running")},
		term.Faint:   {table.Outcome("abandoned")},
	})
}
