package member

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
)

// trouble is what is between a member and the fleet: since when, and what was said of it. It is over when PostgreSQL can be reached again, or no longer refuses what it did.
type trouble struct {
	member  *Member
	since   time.Time
	said    map[string]bool
	refused bool // by PostgreSQL, which was reached
	pause   time.Duration
}

// note notes why a session has ended, and says it once.
func (t *trouble) note(err error, joined bool) {
	if t.since.IsZero() {
		t.since, t.said = time.Now(), map[string]bool{}
	}
	t.refused = !store.Unreachable(err)
	switch text := err.Error(); {
	case len(t.said) > 0 && (!t.refused || t.said[text]):
	case joined:
		t.said[text] = true
		t.member.Say("the fleet is out of reach; this machine continues with what it has. " + text)
	default:
		t.said[text] = true
		t.member.Say(message.FleetWaiting(err))
	}
}

// next is how long to wait until the next try. The pauses grow until a session has worked.
func (t *trouble) next(worked bool) time.Duration {
	if worked {
		t.pause = 0
	}
	t.pause = min(maxPause, max(2*t.pause, 200*time.Millisecond))
	return time.Duration(float64(t.pause) * (0.5 + rand.Float64()))
}

// joined says that the machine has joined, and for how long the fleet was out of reach before. What PostgreSQL has refused it may refuse again: then it is not over yet.
func (t *trouble) joined(first bool) {
	switch {
	case first:
		t.since, t.pause = time.Time{}, 0
		t.member.Say(fmt.Sprintf("joined the fleet at %s as %s", t.member.Address.Text, t.member.Name))
		if t.member.Joined != nil {
			t.member.Joined()
			t.member.Joined = nil
		}
	case !t.refused:
		t.over()
	}
}

// over says that the fleet is back.
func (t *trouble) over() {
	if !t.since.IsZero() {
		t.member.Say("the fleet is back after " + printable.Span(time.Since(t.since)))
		t.since, t.pause = time.Time{}, 0
	}
}
