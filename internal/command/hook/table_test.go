package hook

import (
	"testing"

	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/term/tabletest"
)

// The table of hooks has long matchers and commands.
func TestTable_Layout(t *testing.T) {
	tabletest.Layouts(t, map[string]term.Sheet{"hook-status": {Columns: hookTable, Rows: [][]term.Piece{
		term.Cells("claude", "project", "PreToolUse", "Bash|Edit|Write|MultiEdit", "installed", "belay hook -- python3 $CLAUDE_PROJECT_DIR/.claude/hooks/guard.py --strict"),
		term.Cells("codex", "user", "agent-turn-complete", "", "no: it has a type that belay does not know", "notify-send done")}}})
}
