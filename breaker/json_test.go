package breaker_test

import (
	"encoding/json"
	"testing"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/internal/test/must"
)

// The form of a file that other processes, and other versions, read.
func TestState_JSON(t *testing.T) {
	for want, s := range map[string]breaker.State{
		`{}`:                             healthy,
		`{"failures":4,"reason":"down"}`: four,
		`{"failures":4,"caller":"a","reason":"down"}`: fourOfA,
		`{"generation":1,"phase":"open","opens":1,"reason":"down","since":"2026-11-15T12:00:00Z","until":"2026-11-15T12:01:00Z"}`: opened,
		`{"generation":1,"phase":"open","forced":true,"since":"2026-11-15T12:00:00Z"}`:                                            forever,
		`{"generation":2,"phase":"half_open","successes":1,"opens":1,"reason":"down","since":"2026-11-15T12:00:00Z",` +
			`"probe":{"holder":"a","expires":"2026-11-15T12:00:30Z"}}`: oneMore,
		`{"generation":3,"since":"2026-11-15T12:00:00Z"}`: closed,
	} {
		got, err := json.Marshal(s)
		must.OK(t, err)
		equal(t, "JSON", string(got), want)
		var back breaker.State
		must.OK(t, json.Unmarshal(got, &back))
		equal(t, "and back", back, s)
	}
}

func TestPhase_Text(t *testing.T) {
	for want, p := range map[string]breaker.Phase{
		"closed": breaker.Closed, "open": breaker.Open, "half_open": breaker.HalfOpen, "phase(9)": 9,
	} {
		equal(t, "name", p.String(), want)
	}
	var s breaker.State
	equal(t, "closed is known", json.Unmarshal([]byte(`{"phase":"closed"}`), &s), nil)
	equal(t, "state", s, healthy)
	err := json.Unmarshal([]byte(`{"phase":"ajar"}`), &s)
	if err == nil {
		t.Fatal("an unknown phase was read as", s.Phase)
	}
	equal(t, "error", err.Error(), `breaker phase "ajar": want closed, open or half_open`)
}
