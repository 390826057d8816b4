package member

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/clock"
	"github.com/belay-run/belay/internal/fleet/merge"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/supervise"
)

// After a hold, one call starts at a time, and one more for each answer: in the whole fleet, not on each machine. The runs of a machine see only its
// own file. So the member fills that with starts that no one has made, in place of those that are not this machine's turn. They expire by
// themselves: if the member dies, the machine starts slowly by itself, as it would without a fleet.

const (
	// early is how long before the end of a hold the turns are settled.
	early = 3 * time.Second
	// reserved is how long a reserved start lasts unless it is renewed, and renewAt when that is done.
	reserved, renewAt = 20 * time.Second, 8 * time.Second
	// tickTime is how often is looked whether runs wait, while a gate starts slowly.
	tickTime = 200 * time.Millisecond
	// unused is after which time a turn goes back that no run has used, and passed how long the machine then leaves it to others.
	unused, passed = 1500 * time.Millisecond, time.Second
)

// turn is how a machine takes part in the slow start of one gate.
type turn struct {
	granted int // of the next starts
	since   time.Time
	starts  int // that were under way when it was granted
	passing time.Time
	own     map[string]bool // starts that runs of this machine have made
	idle    int             // heartbeats since it has become healthy
}

// due reports whether starts have to be shared out now: the gate starts slowly, and its hold is over or almost.
func (t *turn) due(s gate.State, now time.Time) bool {
	return s.Ramp.Live(now) && s.Hold.Left(now) < early
}

// grant is how many of the next starts are to be this machine's, by PostgreSQL's clock.
func (t *turn) grant(s gate.State, elsewhere, wants int, at time.Time) int {
	if !t.due(s, at) || wants == 0 {
		t.since = time.Time{}
		return 0
	}
	live := liveStarts(s.Ramp, at)
	// One at a time: the others want some too, and all that is under way when the limit is met again is refused. The next one comes as soon as this is used.
	n := min(wants, room(s.Ramp)-live-elsewhere, 1)
	if n <= 0 || at.Before(t.passing) {
		t.since = time.Time{}
		return 0
	}
	if t.since.IsZero() || live != t.starts || s.Hold.Live(at) {
		t.since, t.starts = at, live
	}
	if at.Sub(t.since) > unused { // no run here can use it
		t.since, t.passing = time.Time{}, at.Add(passed)
		return 0
	}
	return n
}

// room is how many starts may be unanswered at the same time.
func room(r gate.Ramp) int {
	if r.Answers < r.Last {
		return min(r.Allowed, r.Last-r.Answers)
	}
	return r.Allowed
}

func liveStarts(r gate.Ramp, now time.Time) (n int) {
	for _, s := range r.Starts {
		if s.Expires.After(now) {
			n++
		}
	}
	return n
}

// reserve adds the starts that are not this machine's to a state. Those that are there stay as they are while they last.
func (t *turn) reserve(s, file gate.State, now time.Time) gate.State {
	if !t.due(s, now) {
		return s
	}
	n := room(s.Ramp) - liveStarts(s.Ramp, now) - t.granted
	for _, start := range s.Ramp.Starts {
		if t.own[start.Holder] && start.Expires.After(now) {
			n += 2 // its answer makes room for two, of which the fleet does not know yet
		}
	}
	if n <= 0 {
		return s
	}
	starts := slices.Clone(s.Ramp.Starts)
	for i := range n {
		holder := fmt.Sprintf("%s%d", merge.Reserved, i)
		expires := now.Add(reserved)
		if at := slices.IndexFunc(file.Ramp.Starts, func(s gate.Start) bool { return s.Holder == holder }); at >= 0 && file.Ramp.Starts[at].Expires.Sub(now) > renewAt {
			expires = file.Ramp.Starts[at].Expires
		}
		starts = append(starts, gate.Start{Holder: holder, Expires: expires})
	}
	s.Ramp.Starts = starts
	return s
}

// note notes which starts are this machine's: those that its file has and that did not come from others.
func (t *turn) note(sent, base, agreed gate.Ramp) {
	has := func(r gate.Ramp, holder string) bool {
		return slices.ContainsFunc(r.Starts, func(s gate.Start) bool { return s.Holder == holder })
	}
	own := map[string]bool{}
	for _, s := range agreed.Starts {
		if t.own[s.Holder] || has(sent, s.Holder) && !has(base, s.Holder) {
			own[s.Holder] = true
		}
	}
	t.own = own
}

// waiting is how many runs of this machine wait for their turn at a gate.
func (g *gates) waiting(key string) (n int) {
	runs, err := overview.Runs(g.State.Records())
	if err != nil {
		g.trouble(err)
		return 0
	}
	for _, r := range runs {
		reason, ok := strings.CutPrefix(r.Reason, "gate "+key+": ")
		if ok && r.State == supervise.StateWaiting && !strings.HasPrefix(reason, overview.AllTaken()) {
			n++
		}
	}
	return n
}

// next is when something has to be done that no one tells us of.
func (g *gates) next() time.Duration {
	now, next := clock.Now(), time.Hour
	for _, known := range g.kept.gates {
		switch {
		case !known.local.Ramp.Live(now):
		case known.due(known.local, now):
			next = min(next, tickTime)
		default:
			next = min(next, max(tickTime, known.local.Hold.Left(now)-early))
		}
	}
	return next
}

// tick shares out the starts of gates that start slowly.
func (g *gates) tick(ctx context.Context) error {
	now := clock.Now()
	for key, known := range g.kept.gates {
		if !known.due(known.local, now) {
			continue
		}
		file, err := g.files.Load(key)
		if err != nil {
			g.trouble(err)
			continue
		}
		if wants := g.waiting(key); wants > 0 || known.granted > 0 || !merge.Same(known.reserve(merge.Own(file), file, now), file) {
			if err := g.sync(ctx, key); err != nil {
				return err
			}
		}
	}
	return nil
}

// When the time of an open breaker is over, one call probes whether the service is back. It is over for all machines at the same moment, and belay run only looks at
// its own file. So each machine gets a slightly later time than the one before it: by then it has heard of the probe.

const (
	// probeStep is how much later: longer than two clocks may differ without being corrected, and a note takes.
	probeStep = 500 * time.Millisecond
	// probeSteps is for how many machines. All after them share the last step, so that none waits for long.
	probeSteps = 8
)

// ours is what was agreed upon, as the file of this machine has it.
func (g *gates) ours(agreed gate.State) gate.State {
	s := merge.Shifted(agreed, g.kept.ahead)
	if s.Breaker.Phase == breaker.Open && !s.Breaker.Until.IsZero() {
		s.Breaker.Until = s.Breaker.Until.Add(time.Duration(min(g.kept.before, probeSteps)) * probeStep)
	}
	return s
}
