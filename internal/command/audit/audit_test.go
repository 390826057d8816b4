package audit

import (
	"testing"

	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/term/tabletest"
)

func TestTable_Layouts(t *testing.T) {
	tabletest.Layouts(t, map[string]term.Sheet{
		"audit": {Columns: columns, Rows: [][]term.Piece{
			term.Cells("14:02:11", "1f0c9a3e", "triage", "failure", "claude", "warning, connection, network", "3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66", "connect: connection reset by peer", "step=review ticket=42"),
			term.Cells("15:00:00", "", "alex", "gate_reset", "anthropic-api-key-1234", "", "", "", "")}},
	})
}
