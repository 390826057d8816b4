package demo

import (
	"testing"

	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/term/tabletest"
)

func TestTable_Layouts(t *testing.T) {
	tabletest.Layouts(t, map[string]term.Sheet{
		"demo": {Columns: columns, Rows: [][]term.Piece{
			term.Cells("09:00:00", "ask", "1", "retry", "rate_limit", "2.0"), term.Cells("09:00:02", "ask", "2", "success", "", "")}},
	})
}
