package breaker_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/breaker"
)

// Many goroutines, all kinds of outcomes, real time: never two probes at once. The lease is too long to expire.
func TestRace_OneProbeAtATime(t *testing.T) {
	b := &breaker.Breaker{Settings: breaker.Settings{Failures: 2, Open: 20 * time.Microsecond, MaxOpen: 50 * time.Microsecond, Lease: time.Hour}}
	var generation atomic.Uint64
	b.OnChange = func(from, to breaker.State) {
		if to.Generation < generation.Swap(to.Generation) {
			t.Errorf("generation fell to %d", to.Generation)
		}
	}
	var probing atomic.Int32
	var probes, reopened, closed atomic.Int32
	var clients sync.WaitGroup
	for n := range uint64(16) {
		clients.Go(func() {
			random := rand.New(rand.NewPCG(n, 0))
			for range 2000 {
				c, err := b.Allow()
				if err != nil {
					time.Sleep(10 * time.Microsecond)
					continue
				}
				if c.Probe() {
					probes.Add(1)
					if n := probing.Add(1); n > 1 {
						t.Errorf("%d probes at once", n)
					}
					probing.Add(-1)
				}
				switch random.IntN(8) {
				case 0, 1:
					c.Renew()
					c.Failure(errDown)
					reopened.Add(1)
				case 2:
					c.Release()
				default:
					c.Success()
					closed.Add(1)
				}
				_ = b.State()
			}
		})
	}
	clients.Wait()
	if probes.Load() == 0 || reopened.Load() == 0 || closed.Load() == 0 {
		t.Errorf("%d probes, %d failures, %d successes: the test tested nothing", probes.Load(), reopened.Load(), closed.Load())
	}
}

// The same in fake time with probes that outlast their lease: at most one whose lease has not expired.
func TestRace_OneUnexpiredProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := exact()
		open(t, b)
		var mu sync.Mutex
		var started []time.Time
		end := time.Now().Add(time.Hour)
		for n := range uint64(50) {
			go func() {
				random := rand.New(rand.NewPCG(n, 1))
				for time.Now().Before(end) {
					c, err := b.Allow()
					if err == nil && c.Probe() {
						mu.Lock()
						started = append(started, time.Now())
						mu.Unlock()
						time.Sleep(time.Duration(random.Int64N(int64(5 * time.Minute))))
					}
					time.Sleep(time.Duration(random.Int64N(int64(time.Second))))
				}
			}()
		}
		time.Sleep(time.Until(end) + 10*time.Minute)
		mu.Lock()
		defer mu.Unlock()
		for i := 1; i < len(started); i++ {
			if gap := started[i].Sub(started[i-1]); gap < 30*time.Second {
				t.Fatalf("a probe %v after another that was not answered", gap)
			}
		}
		if len(started) < 100 {
			t.Errorf("%d probes in an hour of none answered, want one each 30 s", len(started))
		}
	})
}
