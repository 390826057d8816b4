package faulttest

import (
	"math/rand/v2"
	"sync"
	"testing"
)

// Random gives a test what it leaves to chance: moments of kills, pauses, choices. BELAY_TEST_SEED is the seed, which make soak sets anew each
// time; without it each run of a test tries the same. Goroutines may share it, but then who gets which number is not repeated: for that, each
// takes one with a seed of its own from [rand.Rand.Uint64].
func Random(t testing.TB) *rand.Rand {
	t.Helper()
	seed := uint64(Count(t, "BELAY_TEST_SEED", 1))
	t.Logf("BELAY_TEST_SEED=%d", seed)
	return rand.New(&source{pcg: rand.NewPCG(seed, 0)})
}

// source is a source for several goroutines.
type source struct {
	mu  sync.Mutex
	pcg *rand.PCG
}

func (s *source) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pcg.Uint64()
}

// N is a number from r that is at least 0 and below n, as [rand.N] gives from the seed of the process.
func N[Int interface{ ~int | ~int64 }](r *rand.Rand, n Int) Int {
	return Int(r.Int64N(int64(n)))
}
