package gates

import (
	"testing"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/term/tabletest"
)

// The table of gates has long keys and reasons.
func TestTable_Layout(t *testing.T) {
	tabletest.Layouts(t, map[string]term.Sheet{"gates": {Columns: gateTable, Rows: [][]term.Piece{
		term.Cells("anthropic:3f9c1a52", "held, breaker half-open", "09:14:58", "2026-11-18 15:00", "12", "usage limit: You've hit your limit · resets 3pm; 5 failures in a row"),
		term.Cells("api", "open", "09:14:58", "–", "1", "503 Service Unavailable"),
		term.Cells("https://a-rather-long-host.example.com/v1", "slow start, 2 at a time", "09:14:58", "–", "0", "429 Too Many Requests")}}})
}

// How a gate stands decides its colour.
func TestGateStyle(t *testing.T) {
	now := time.Now()
	gateIn := func(phase breaker.Phase, until time.Time, hold gate.Hold) overview.Gate {
		return overview.Gate{Entry: gate.Entry{State: gate.State{Breaker: breaker.State{Phase: phase, Failures: 2, Since: now, Until: until}, Hold: hold}}}
	}
	held := gate.Hold{Since: now, Until: now.Add(time.Hour)}
	for _, tt := range []struct {
		what string
		gate overview.Gate
		want term.Style
	}{
		{"open", gateIn(breaker.Open, now.Add(5*time.Second), gate.Hold{}), term.Bad}, {"half-open", gateIn(breaker.HalfOpen, now, gate.Hold{}), term.Warning},
		{"held, breaker open", gateIn(breaker.Open, now.Add(5*time.Second), held), term.Warning}, {"closed, 2 failures", gateIn(breaker.Closed, time.Time{}, gate.Hold{}), term.Good},
		{"full", overview.Gate{Full: true}, term.Warning},
	} {
		if got := gateStyle(&tt.gate, now); got != tt.want {
			t.Errorf("%s looks %v, want %v", tt.what, got, tt.want)
		}
	}
}
