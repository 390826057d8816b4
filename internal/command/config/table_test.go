package config

import (
	"testing"

	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/term/tabletest"
)

// The table of settings has long values.
func TestTable_Layout(t *testing.T) {
	tabletest.Layouts(t, map[string]term.Sheet{"config": {Columns: settingTable, Rows: [][]term.Piece{
		term.Cells("max-retries (claude)", "5", "BELAY_MAX_RETRIES"),
		term.Cells("rule: quota", `match "quota exceeded", class usage_limit, retry after 1h`, "/home/alex/.config/belay/config.toml:12"),
		term.Cells("alert claude", "20 failures within 10m", "/home/alex/.config/belay/config.toml:31")}}})
}
