package admission

import (
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/clock"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

// Login watches the login of an agent's CLI that other processes may renew at the same time. Two of them can renew it at once, and the one that
// comes second is told that its login is not valid, though a new one is there. The zero value watches none.
type Login struct {
	File   agent.StoredLogin
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

// Begin looks at the login before attempt n. While it is about to expire, starts are a moment apart, so that one process renews it and the others
// find the new one. end is called after the attempt.
func (l *Login) Begin(c *call.Call, p *Pace, n int) (end func()) {
	l.before, end = l.File.Look(), func() {}
	waited := time.Duration(0)
	for ; isExpiring(l.before) && c.Scopes != nil && !p.NoWait && waited < maxApart; l.before = l.File.Look() {
		slot, err := c.Scopes.Take(agent.GateKey("login", c.Profile.Name(), l.File.Path), 1, c.ID)
		if !errors.Is(err, gate.ErrFull) { // trouble is no reason to wait
			end = sync.OnceFunc(slot.Free)
			time.AfterFunc(startsApart+rand.N(startsApart), end)
			break
		}
		c.Live.Update(supervise.StateWaiting, n, "another run may be renewing the login", time.Time{})
		poll := min(slotPoll+rand.N(slotPoll), maxApart-waited)
		if waited += poll; p.sleepAtGate(poll, nil) != nil {
			break
		}
	}
	if waited > 0 {
		c.Live.Update(supervise.StateRunning, n, "", time.Time{})
	}
	return end
}

// WasRenewed reports whether an attempt is worth one more at once: its login was not accepted, and is not the one any more that it was started with.
func (l *Login) WasRenewed(class verdict.Class) bool {
	if l.tries++; class != verdict.Auth {
		l.tries = 0
	}
	return l.tries > 0 && l.tries <= maxLoginTries && l.before.Replaced(l.File.Look())
}
