package price

import (
	"math"
	"testing"
)

// A cost of -1e308 made the sum of a session infinite, and its record was lost.
func TestCredible(t *testing.T) {
	for cost, want := range map[float64]bool{0: true, 0.25: true, 1e6: true, -0.01: false, -1e308: false, 1e300: false, math.Inf(1): false, math.NaN(): false} {
		if got := Credible(&cost) != nil; got != want {
			t.Errorf("%g: %t", cost, got)
		}
	}
	if Credible(nil) != nil {
		t.Error("a cost that is not known became one")
	}
}
