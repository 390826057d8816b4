package ps

import (
	"testing"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/term/tabletest"
)

// The table of runs has long rows, and those in other scripts.
func TestTable_Layout(t *testing.T) {
	tabletest.Layouts(t, map[string]term.Sheet{"ps": {Columns: psTable, Rows: [][]term.Piece{
		term.Cells("5e0d6a41", "20311", "claude", "nightly env=ci team=web", "4m12s", "running, attempt 2"),
		term.Cells("1f0c9a3e", "4194304", "claude", "", "2h15m", "waiting 1h47m, until 15:00:00: gate anthropic: usage limit, resets at 15:00 (利用制限)"),
		term.Cells("9c41f7be", "", "/usr/local/lib/node_modules/tool/bin/run.js", "", "12m", "killed, left running: 20877 (sleep), 20880 (node)")}}})
}

// What a run does decides its colour.
func TestRunStyle(t *testing.T) {
	for _, tt := range []struct {
		what string
		run  supervise.Record
		want term.Style
	}{
		{"running", supervise.Record{}, term.Good}, {"waiting", supervise.Record{State: supervise.StateWaiting}, term.Warning}, {"killed", supervise.Record{State: stateKilled}, term.Bad},
	} {
		if got := runStyle(tt.run); got != tt.want {
			t.Errorf("%s looks %v, want %v", tt.what, got, tt.want)
		}
	}
}
