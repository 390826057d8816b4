package engine

import (
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/clock"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

// login watches the login of an agent's CLI that other processes may renew at the same time. Two of them can renew it at once, and the one that
// comes second is told that its login is not valid, though a new one is there. The zero value watches none.
type login struct {
	file   agent.StoredLogin
	before agent.LoginState // as the present attempt found it
	tries  int              // in a row, with another login each
}

const (
	// A login is renewed by its CLI in the last minutes before it expires. One that nobody has renewed for long afterwards never will be.
	renewedBefore, renewedAfter = 5 * time.Minute, time.Hour
	// startsApart is how long the others wait for the one that renews it: claude has it a second after its start. At most twice that with jitter.
	startsApart = time.Second
	// maxApart is the most that one attempt waits.
	maxApart = 10 * time.Second
	// maxLoginTries bounds the tries with a login that is another one each time.
	maxLoginTries = 3
)

// isExpiring reports whether the next to start may renew the login.
func isExpiring(s agent.LoginState) bool {
	left := s.Expires.Sub(clock.Now())
	return !s.Expires.IsZero() && left < renewedBefore && left > -renewedAfter
}

// begin looks at the login before attempt n. While it is about to expire, starts are a moment apart, so that one process renews it and the others
// find the new one. end is called after the attempt.
func (l *login) begin(c *call, p *pace, n int) (end func()) {
	l.before, end = l.file.Look(), func() {}
	waited := time.Duration(0)
	for isExpiring(l.before) && c.scopes != nil && !p.noWait {
		slot, err := c.scopes.Take(agent.GateKey("login", c.profile.Name(), l.file.Path), 1, c.id)
		if !errors.Is(err, gate.ErrFull) { // trouble is no reason to wait
			end = sync.OnceFunc(slot.Free)
			time.AfterFunc(startsApart+rand.N(startsApart), end)
			break
		}
		if waited == 0 {
			c.live.update(supervise.StateWaiting, n, "another run may be renewing the login", time.Time{})
		}
		poll := min(slotPoll+rand.N(slotPoll), maxApart-waited)
		if poll <= 0 || p.sleepAtGate(poll, nil) != nil {
			break
		}
		waited += poll
		l.before = l.file.Look()
	}
	if waited > 0 {
		c.live.update(supervise.StateRunning, n, "", time.Time{})
	}
	return end
}

// wasRenewed reports whether an attempt is worth one more at once: its login was not accepted, and is not the one any more that it was started with.
func (l *login) wasRenewed(class verdict.Class) bool {
	if class != verdict.Auth {
		l.tries = 0
		return false
	}
	return l.tries < maxLoginTries && l.before.Replaced(l.file.Look())
}
