package relay

import (
	"time"

	"github.com/belay-run/belay/internal/mcp/wire"
)

// Outlets are what a relay acts on.
type Outlets interface {
	// ToClient and ToServer send one line. They do not copy borrowed parts.
	ToClient(parts ...[]byte)
	ToServer(parts ...[]byte)
	Divert(m *wire.Message) // what does not belong on stdout
	Start(generation int)   // answered by Started or Died
	Stop(generation int)    // answered by Died
	CloseInput()            // the server is to end by itself, and in time; answered by Died
	Wake(at time.Time)      // answered by Tick
	Record(i Incident)
	Done() // nothing is left to do
}

// alarm is when the relay next has to be woken.
type alarm struct {
	at  time.Time // zero: not at all
	out Outlets
}

// set asks to be woken at t, if not before.
func (a *alarm) set(t time.Time) {
	if a.at.IsZero() || t.Before(a.at) {
		a.at = t
		a.out.Wake(t)
	}
}

// leaving is the end, once the client sends nothing more.
type leaving struct {
	closing  bool
	at       time.Time // until when calls under way are waited for
	inputEnd bool      // the server has been told
}

// drain is how long calls may take that are under way when the client leaves.
const drain = 2 * time.Second

func (l *leaving) begin(now time.Time) { l.closing, l.at = true, now.Add(drain) }

// due reports whether the server is to be told now. busy says that the client waits for an answer.
func (l *leaving) due(busy func() bool) bool {
	return l.closing && !l.inputEnd && (!busy() || !time.Now().Before(l.at))
}
