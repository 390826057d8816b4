package gate

import (
	"cmp"

	"github.com/belay-run/belay/breaker"
)

// Row returns how many failures in a row a gate remembers whose breaker is closed, and how many open it. If the store
// cannot be read, failures is 0.
func (g *Gate) Row() (failures, of int) {
	of = cmp.Or(max(g.Settings.Breaker.Failures, 0), breaker.DefaultFailures)
	state, err := g.Store.Load(g.Key)
	if err != nil || state.Breaker.Phase != breaker.Closed {
		return 0, of
	}
	return state.Breaker.Failures, of
}
