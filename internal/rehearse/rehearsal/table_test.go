package rehearsal

import (
	"testing"

	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/term/tabletest"
)

func TestTable_Layouts(t *testing.T) {
	tabletest.Layouts(t, map[string]term.Sheet{
		"rehearse": {Columns: columns("MODEL"), Indent: "  ", Rows: [][]term.Piece{
			term.Cells("1", "0.41s", "", "POST /v1/messages", "claude-opus-4-8-20260901", "429(retry-after=2)", "429", ""),
			term.Cells("2", "2.43s", "2.02s", "POST /v1/messages", "claude-opus-4-8-20260901", `200(text="Forty-two.", input=1200)`, "200", "1200 in / 12 out, cache 20 read / 400 written"),
			term.Cells("3", "2.99s", "0.56s", "POST /v1/messages", "claude-opus-4-8-20260901", "hang", "none, client left after 1.00s", "7 in / 0 out")}},
	})
}

func TestTable_Styles(t *testing.T) {
	answer := func(status int, end rehearse.End) term.Piece {
		q := rehearse.Request{Status: status, End: end}
		return term.Styled(answerStyle(q), answerText(q))
	}
	tabletest.Styles(t, map[term.Style][]term.Piece{
		term.Good:    {answer(200, rehearse.Whole)},
		term.Warning: {answer(429, rehearse.Whole)},
		term.Bad:     {answer(200, rehearse.CutByUs)},
	})
}
