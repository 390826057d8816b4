package gates

import (
	"io"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/term"
)

var gateTable = []term.Column{{Heading: "GATE", Kind: term.Path, Min: 12}, {Heading: "STATE", Kind: term.Whole}, {Heading: "SINCE", Kind: term.Whole, Drop: 1},
	{Heading: "UNTIL", Kind: term.Whole}, {Heading: "WAITING", Kind: term.Number}, {Heading: "REASON", Kind: term.Note}}

func writeGates(w io.Writer, gates []overview.Gate) error {
	if len(gates) == 0 {
		return term.Printf(w, "%s\n", message.GatesHealthy())
	}
	var rows [][]term.Piece
	now := time.Now()
	for _, e := range gates {
		state, since, until, reason := e.Columns(now)
		rows = append(rows, term.Cells(e.Key, term.Styled(gateStyle(&e, now), state), clock(since), clock(until), len(e.Waiting), reason))
	}
	return term.Table(w, gateTable, rows)
}

// gateStyle is the style of the state of a gate.
func gateStyle(g *overview.Gate, now time.Time) term.Style {
	switch s := g.State; {
	case g.Full, s.Hold.Live(now), s.Breaker.Phase == breaker.Closed && s.Ramp.Live(now):
		return term.Warning
	case s.Breaker.Phase == breaker.Closed:
		return term.Good
	case g.Closed(now):
		return term.Bad
	}
	return term.Warning
}

func clock(t time.Time) string {
	switch {
	case t.IsZero():
		return "–"
	case time.Until(t) > 20*time.Hour || time.Since(t) > 20*time.Hour:
		return t.Local().Format("2006-01-02 15:04")
	}
	return t.Local().Format("15:04:05")
}
