//go:build unix

package gate_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/test/must"
)

// The probes of the field report (§2.3) are the edges where the breakers and retries of the field stick, stampede or
// count late results. Here they are over a shared gate, with processes that are started and killed. Probe 6, a date as the
// hint, is the verdict's business; probe 8 is in budget_test.go.

// here is the gate of this process.
func here(t *testing.T, dir string) *gate.Gate {
	return &gate.Gate{Store: &gate.Files{Dir: dir}, Key: "api", Settings: quick, Trouble: func(err error) { t.Errorf("trouble: %v", err) },
		Rand: func() float64 { return 0 }}
}

func enter(t *testing.T, g *gate.Gate, holder string) *gate.Pass {
	t.Helper()
	pass, refusal := g.Enter(holder)
	if refusal != nil {
		t.Fatalf("%s is refused: %+v", holder, refusal)
	}
	return pass
}

// trip opens the breaker, and returns when it is half open.
func trip(t *testing.T, g *gate.Gate) {
	t.Helper()
	for i := range quick.Breaker.Failures {
		enter(t, g, fmt.Sprint("failing ", i)).Failed("network of curl")
	}
	if s := load(t, g); s.Breaker.Phase != breaker.Open {
		t.Fatalf("not open: %s", show(s))
	}
	time.Sleep(quick.Breaker.Open)
	for r := g.Peek(); r != nil; r = g.Peek() {
		time.Sleep(time.Millisecond)
	}
}

func load(t *testing.T, g *gate.Gate) gate.State {
	t.Helper()
	s, err := g.Store.Load(g.Key)
	must.OK(t, err)
	return s
}

// Probe 1: a call that was let in while all was well comes back while a probe is out. In failsafe-go, and by their source
// in Polly and resilience4j, its success closed the breaker.
func TestProbe1_LateResultOfAClosedGate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	g := here(t, dir)
	g.Settings.Breaker.Lease = time.Hour
	late := begin(t, dir, "enter")
	late.expect("ready")
	late.proceed()
	late.expect("in")
	trip(t, g)
	probe := enter(t, g, "probe")
	before := show(load(t, g))
	late.proceed()
	late.expect("answered")
	late.proceed()
	late.expect("done")
	equal(t, "state", show(load(t, g)), before)
	probe.Succeeded()
	enter(t, g, "second").Succeeded()
	equal(t, "state", show(load(t, g)), "{}")
}

// Probe 2: failsafe-go was still open a day after its probe panicked.
func TestProbe2_ProbePanics(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	g := here(t, dir)
	trip(t, g)
	p := begin(t, dir, "panic")
	p.expect("in")
	p.cmd.Wait()
	expectAdmission(t, g, quick.Breaker.Lease)
}

// expectAdmission expects the gate to admit a call when a lease that was taken or renewed just now is over.
func expectAdmission(t *testing.T, g *gate.Gate, lease time.Duration) {
	t.Helper()
	begun := time.Now()
	for i := range 2 {
		inside(g, fmt.Sprint("after ", i)).Succeeded()
	}
	if took := time.Since(begun); took > lease+testTimeout { // what is wedged is so for much longer
		t.Errorf("let in after %v", took)
	}
	if phase := load(t, g).Breaker.Phase; phase != breaker.Closed {
		t.Errorf("the breaker is %v", phase)
	}
}

// Probe 3: failsafe-go and gobreaker were stuck a day after a probe began to hang, Polly would be.
func TestProbe3_ProbeHangs(t *testing.T) {
	for name, sig := range map[string]syscall.Signal{"Stopped": syscall.SIGSTOP, "Killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			g := here(t, dir)
			p := begin(t, dir, "enter")
			p.expect("ready")
			trip(t, g)
			begun := time.Now()
			p.proceed()
			p.expect("in")
			p.signal(sig)
			if _, refusal := g.Enter("too early"); refusal == nil || refusal.Kind != "probe" {
				if time.Since(begun) < quick.Breaker.Lease { // else it was not too early
					t.Errorf("not refused: %+v", refusal)
				}
			}
			expectAdmission(t, g, quick.Breaker.Lease)
			if sig == syscall.SIGSTOP { // it comes back: too late to change anything
				before := show(load(t, g))
				p.signal(syscall.SIGCONT)
				p.proceed()
				p.expect("answered")
				equal(t, "state", show(load(t, g)), before)
			}
		})
	}
}

// Probes 4 and 5: no call is let in before the time that the service told, whatever others say, and whatever the jitter.
// Of 200 retries of failsafe-go after a Retry-After of 60 s, the earliest came at 45.2 s, and at 5 s with a MaxDuration.
func TestProbe4And5_HintIsAFloor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate.Gate{Store: &gate.Files{Dir: t.TempDir()}, Key: "api"}
		under, throttled := enter(t, g, "under way"), enter(t, g, "throttled")
		time.Sleep(time.Second)
		throttled.Throttled(time.Minute, "rate_limit")
		until := time.Now().Add(time.Minute)
		time.Sleep(time.Second)
		under.Throttled(5*time.Second, "rate_limit")
		var all sync.WaitGroup
		var mu sync.Mutex
		var earliest time.Time
		for i := range 200 {
			random := rand.New(rand.NewPCG(uint64(i), 0))
			all.Go(func() {
				for {
					time.Sleep(faulttest.N(random, 5*time.Second))
					if pass, refusal := g.Enter(fmt.Sprint(i)); refusal == nil {
						mu.Lock()
						if now := time.Now(); earliest.IsZero() || now.Before(earliest) {
							earliest = now
						}
						mu.Unlock()
						pass.Succeeded()
						return
					}
				}
			})
		}
		all.Wait()
		if d := earliest.Sub(until); d < 0 || d > 5*time.Second {
			t.Errorf("the first was let in %v after the time that was told", d)
		}
	})
}

// Probe 7: all callers are told of a Retry-After of a day at once, and none sleeps in the gate.
func TestProbe7_HintOfADay(t *testing.T) {
	t.Parallel()
	g := here(t, t.TempDir())
	enter(t, g, "a").Throttled(24*time.Hour, "usage_limit")
	begun := time.Now()
	_, refusal := g.Enter("b")
	if refusal == nil || refusal.Until.Sub(begun) < 23*time.Hour || refusal.Until.Sub(begun) > 25*time.Hour || refusal.Reason != "usage_limit" {
		t.Errorf("refusal: %+v", refusal)
	}
	if took := time.Since(begun); took > testTimeout {
		t.Errorf("refused after %v", took)
	}
}

// Probe 9: gobreaker's distributed breaker holds its lock during the call. Of three processes with calls of 60 s two failed
// after 5 s; calls of 2 s ran one after another.
func TestProbe9_CallsOfSeveralProcessesOverlap(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*testing.T, *gate.Gate){
		"Healthy":    func(*testing.T, *gate.Gate) {},
		"NotHealthy": func(t *testing.T, g *gate.Gate) { enter(t, g, "x").Failed("network of curl") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			prepare(t, here(t, dir))
			var processes []*process
			for range 3 {
				processes = append(processes, begin(t, dir, "enter"))
			}
			for _, step := range []string{"ready", "in", "answered", "done"} { // each of them, before one goes on
				for _, p := range processes {
					p.expect(step)
				}
				for _, p := range processes {
					p.proceed()
				}
			}
		})
	}

	// In a slow start and while half open they wait for each other's first answer, not for the end.
	t.Run("Answered", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		g := here(t, dir)
		var processes []*process
		for range 3 {
			processes = append(processes, begin(t, dir, "enter", "patient"))
		}
		for _, p := range processes {
			p.expect("ready")
		}
		trip(t, g)
		for _, p := range processes {
			p.proceed()
			p.expect("in")
			p.proceed()
			p.expect("answered")
		}
		equal(t, "state", show(load(t, g)), "{}") // two first answers have closed it; all three calls go on
	})
}

// Probe 10: eapache's breaker admitted 50 of 50.
func TestProbe10_HalfOpenAdmitsOneOfFiftyProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	g := here(t, dir)
	g.Settings.Breaker.Lease = time.Minute
	var processes []*process
	for range 50 {
		processes = append(processes, begin(t, dir, "enter", "patient"))
	}
	for _, p := range processes {
		p.expect("ready")
	}
	trip(t, g)
	for _, p := range processes {
		p.proceed()
	}
	admitted := 0
	for _, p := range processes {
		switch got := p.says(); got {
		case "in":
			admitted++
		case "refused: probe":
		default:
			t.Errorf("said %q", got)
		}
	}
	equal(t, "admitted", admitted, 1)
}
