package faulttest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// Run is one run of a command that fails.
type Run struct {
	Seed   uint64
	CLI    string
	Policy retry.Policy // without jitter
	Stall  time.Duration
	Faults []Fault // one for each start; further starts play the last
}

// Scale is how long things take in a run: hours where time is fake, milliseconds where it is not.
type Scale struct {
	Base, MaxDelay time.Duration
	Timeout, Stall time.Duration
	Hint, Inner    time.Duration // the unit of hints, and of waits inside a CLI
	MaxWait        time.Duration
	// Hangs is how many of a hundred faults that only a limit ends are kept: each takes as long as the limit.
	Hangs int
	// Fake says that time is fake: an answer may be followed by a hang, plans reset, and throttles need not count.
	Fake bool
}

// Fake is the scale for fake time.
var Fake = Scale{Base: time.Second, MaxDelay: 30 * time.Second, Timeout: 10 * time.Minute, Stall: 2 * time.Minute, Hint: 7 * time.Second, Inner: 500 * time.Millisecond,
	MaxWait: 5 * time.Minute, Hangs: 100, Fake: true}

// Real is the scale for real processes.
var Real = Scale{Base: time.Millisecond, MaxDelay: 4 * time.Millisecond, Timeout: 8 * time.Second, Stall: 4 * time.Second, Hint: time.Second, Inner: 2 * time.Millisecond,
	MaxWait: 1500 * time.Millisecond, Hangs: 8}

// New makes up the run of a seed.
func New(seed uint64, s Scale) *Run {
	c := rand.New(rand.NewPCG(seed, 0x5042))
	in := func(percent int) bool { return c.IntN(100) < percent }
	r := &Run{Seed: seed, CLI: Names()[c.IntN(len(clis)+1)], Stall: s.Stall}
	p := retry.Policy{MaxRetries: 1 + c.IntN(5), BaseDelay: s.Base << c.IntN(2), MaxDelay: s.MaxDelay, Factor: []float64{1, 2, 3}[c.IntN(3)], Jitter: retry.NoJitter,
		CountThrottles: in(60), Timeout: s.Timeout, RetryTimeouts: c.IntN(3)}
	switch {
	case in(10): // nothing is repeated
		p.MaxRetries, p.CountThrottles = retry.None, true
	case in(50):
		p.MaxWait = s.MaxWait + s.Hint*time.Duration(c.IntN(4))
	case s.Fake && in(10):
		p.MaxWait = time.Hour // the reset of a plan fits
	}
	p.CountThrottles = p.CountThrottles || !s.Fake // which is what the flag means
	r.Policy = p
	for n := 1; ; n++ {
		f := r.fault(c, s, n, in(30) || n > 8)
		if (f.Ends != ByItself || f.Hint > 0) && !in(s.Hangs) {
			f = r.fault(c, s, n, true)
		}
		r.Faults = append(r.Faults, f)
		if f.Class == verdict.OK || n > 8 {
			return r
		}
	}
}

// fault is what the nth start does.
func (r *Run) fault(c *rand.Rand, s Scale, n int, works bool) (f Fault) {
	in := func(percent int) bool { return c.IntN(100) < percent }
	answer := fmt.Sprintf("answer %d of start %d", r.Seed, n)
	hint := s.Hint * time.Duration(1+c.IntN(4))
	if r.CLI == Job {
		list := jobFaults(hint, 1+c.IntN(60))
		if f = list[c.IntN(len(list))]; works {
			f = jobSuccess(answer)
		} else {
			f = f.after(Op{Out: fmt.Sprintf("half of start %d\n", n)})
		}
		return f
	}
	cli := played(r.CLI)
	list, early := cli.faults(hint, answer), cli.early(r.SessionID(0))
	switch {
	case works:
		f = cli.success(answer)
		if s.Fake && in(10) {
			f.Name = "success, then a hang"
			f.Ops = append(f.Ops, Op{Hang: true})
		}
	case in(15):
		return early[c.IntN(len(early))]
	default:
		f = list[c.IntN(len(list))]
	}
	f.Begun = true
	var before []Op
	if in(40) && f.Name != "empty answer" { // after work of a tool an empty answer is one
		size := 10
		if in(5) {
			size = 100_000
		}
		for i := range 1 + c.IntN(2) {
			before = append(before, cli.work(i, size)...)
		}
		f.Active = true
	}
	// Where throttles are not counted, retries inside a CLI that are quicker than ours would be are not either.
	if cli.inner != nil && r.Policy.CountThrottles && r.Policy.MaxRetries > 0 && in(20) {
		for i := range 1 + c.IntN(3) {
			inner := Inner{[]verdict.Class{verdict.RateLimit, verdict.Overloaded, verdict.ServerError}[c.IntN(3)], s.Inner * time.Duration(1+c.IntN(4))}
			f.Inner = append(f.Inner, inner)
			before = append(before, cli.inner(i+1, inner))
		}
	}
	f.Active = f.Active || f.Name == "answer, then a failure" && cli.answers
	return f.after(append(cli.begin(), before...)...)
}
