package events

import (
	"testing"

	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/term/tabletest"
)

func TestTable_Layouts(t *testing.T) {
	const limit = "You've hit your usage limit · resets 3pm (UTC). 利用制限に達しました。Upgrade your plan to go on."

	tabletest.Layouts(t, map[string]term.Sheet{
		"events": {Columns: columns, Rows: [][]term.Piece{
			term.Cells("09:00:00", "1f0c9a3e", "integration/failure", "claude", "session not found", "nightly team=web", "12", limit),
			term.Cells("2026-11-13 09:00:00", "", "mcp/tool_error", "mcp:a-server-with-a-long-name", "timeout", "", "0", "no answer within 30s")}},
	})
}
