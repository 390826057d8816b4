package alerts

import (
	"testing"

	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/term/tabletest"
)

func TestTable_Layouts(t *testing.T) {
	const limit = "You've hit your usage limit · resets 3pm (UTC). 利用制限に達しました。Upgrade your plan to go on."

	tabletest.Layouts(t, map[string]term.Sheet{
		"alerts": {Columns: columns, Rows: [][]term.Piece{
			term.Cells("09:00:00", "1f0c9a3e", "claude", "5 in 10m", "nightly team=web", "09:00:02", limit),
			term.Cells("2026-11-13 09:00:00", "1f0c9a3e", "mcp:a-server-with-a-long-name", "20 in 1h", "", "failed 6 times: dial tcp 192.0.2.7:443: connect: connection refused", "exit 1"),
			term.Cells("09:20:00", "1f0c9a3e", "curl", "5 in 10m", "", "–", "connection reset")}},
	})
}
