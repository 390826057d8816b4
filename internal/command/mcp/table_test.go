package mcp

import (
	"testing"

	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/term/tabletest"
)

// The table of servers has long names and failures.
func TestTable_Layout(t *testing.T) {
	tabletest.Layouts(t, map[string]term.Sheet{"mcp-status": {Columns: serverTable, Rows: [][]term.Piece{
		term.Cells("files", "20311", "2h15m", "3", "2", "118.0 MB", "4m ago: exited 137 (out of memory); 2 requests were answered with an error"),
		term.Cells("a-server-with-a-long-name", "4194304", "12s", "1", "0", "–", "–")}}})
}
