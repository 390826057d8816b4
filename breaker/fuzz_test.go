package breaker_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/belay-run/belay/breaker"
)

// FuzzMachine plays random events, by four clients whose clocks jump now and then, and holds the states against what
// must be true of any.
func FuzzMachine(f *testing.F) {
	f.Add([]byte{0, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 30, 0, 5, 0, 1})
	f.Add([]byte{1, 0, 8, 2, 8, 0, 40, 0, 1, 0, 9, 0, 17, 0, 25, 0, 7, 250, 0, 0})
	f.Add([]byte{2, 6, 1, 7, 0, 5, 3, 0, 2, 7, 255, 0, 0, 4, 200, 3, 9, 1, 0, 5, 0})
	f.Fuzz(play)
}

// The same without a fuzzer, for every run of the tests.
func TestMachine_RandomEvents(t *testing.T) {
	random := rand.NewChaCha8([32]byte{})
	for range 300 {
		input := make([]byte, 201)
		_, _ = random.Read(input)
		play(t, input)
	}
}

func play(t *testing.T, input []byte) {
	if len(input) == 0 {
		return
	}
	m := &model{T: t, now: t0, set: []breaker.Settings{
		{},
		{Failures: 1, Successes: 1},
		{Failures: 2, Open: time.Second, MaxOpen: 5 * time.Second, Lease: 10 * time.Second},
		{Failures: 1, Open: time.Hour, Lease: time.Second},
	}[input[0]%4]}
	for input = input[1:]; len(input) >= 2; input = input[2:] {
		m.step(input[0], input[1])
	}
}

type model struct {
	*testing.T
	set     breaker.Settings
	now     time.Time
	state   breaker.State
	tickets [4]breaker.Ticket
	leases  [4]time.Time // until when each client may think that it is the only probe
	jumped  bool         // a clock has
}

// step plays one event: the low bits of a pick it, the next two the client, b is its argument.
func (m *model) step(a, b byte) {
	client := int(a>>3) % 4
	holder := string(rune('a' + client))
	ticket, before := m.tickets[client], m.state
	switch a % 8 {
	case 0:
		m.ask(client, holder)
	case 1:
		m.report(client, m.state.Success(m.set, m.now, ticket))
		if before.Healthy() && m.state != before {
			m.Fatalf("a success changed a healthy state: %+v → %+v", before, m.state)
		}
	case 2:
		ticket.Caller = []string{"", "x", "y", holder}[b%4]
		m.report(client, m.state.Failure(m.set, m.now, ticket, float64(b)/256, "down"))
		if again := m.state.Failure(m.set, m.now, ticket, 0, "down"); ticket.Caller != "" && m.state.Phase == breaker.Closed && again != m.state {
			m.Fatalf("a second failure of %s in a row counted: %+v → %+v", ticket.Caller, m.state, again)
		}
	case 3:
		m.report(client, m.state.Release(ticket))
	case 4:
		m.state = m.state.Renew(m.set, m.now, ticket)
		if m.state.Probe.Holder == holder && m.state.Generation == ticket.Generation {
			m.leases[client] = m.state.Probe.Expires
		}
	case 5:
		m.now = m.now.Add(time.Duration(b) * time.Second)
	case 6:
		m.byHand(b)
	case 7:
		m.now = m.now.Add(time.Duration(int8(b)) * time.Minute) // ±2 h
		m.leases = [4]time.Time{}                               // after a jump of the clock the leases are unknown
		m.jumped = true
	}
	m.check(before, ticket, a%8)
}

func (m *model) ask(client int, holder string) {
	next, ticket, err := m.state.Ask(m.set, m.now, holder)
	if err != nil {
		if next != m.state {
			m.Fatalf("a refusal changed the state: %+v → %+v", m.state, next)
		}
		return
	}
	m.state, m.tickets[client] = next, ticket
	if !ticket.Probe {
		return
	}
	for other, expires := range m.leases {
		if m.tickets[other].Probe && m.tickets[other].Generation == ticket.Generation && m.now.Before(expires) {
			m.Fatalf("a second probe, though that of client %d has %v left", other, expires.Sub(m.now))
		}
	}
	m.leases[client] = next.Probe.Expires
}

func (m *model) report(client int, next breaker.State) {
	m.state, m.leases[client] = next, time.Time{}
}

func (m *model) byHand(b byte) {
	switch {
	case b%2 == 0:
		m.state = m.state.Reset(m.now)
	case b == 1:
		m.state = m.state.Force(m.now, time.Time{}, "by hand")
	default:
		m.state = m.state.Force(m.now, m.now.Add(time.Duration(b)*time.Minute), "by hand")
	}
}

func (m *model) check(before breaker.State, ticket breaker.Ticket, event byte) {
	s := m.state
	if s.Generation < before.Generation || s.Phase != before.Phase && s.Generation == before.Generation {
		m.Fatalf("the generation did not go up: %+v → %+v", before, s)
	}
	if event >= 1 && event <= 4 && ticket.Generation != before.Generation && s != before {
		m.Fatalf("a late result changed the state: %+v → %+v", before, s)
	}
	if open := s.Until.Sub(s.Since); s.Phase == breaker.Open && !s.Forced &&
		(open < m.set.OpenTime(s.Opens-1, 0) || open > m.set.OpenTime(s.Opens-1, 1)) {
		m.Fatalf("open for %v: %+v", open, s)
	}
	m.checkNotStuck()

	data, err := json.Marshal(s)
	if err != nil {
		m.Fatal(err)
	}
	var back breaker.State
	if err := json.Unmarshal(data, &back); err != nil || back != s {
		m.Fatalf("%+v came back from %s as %+v, %v", s, data, back, err)
	}
}

// checkNotStuck says that from any state, after the longest open time and a lease of silence, a call is let through,
// unless it was forced open; and that a refusal tells no time that is too early. If a clock has jumped, a call
// is let through either now or then.
func (m *model) checkNotStuck() {
	s := m.state
	refusal, refused := s.Refusal(m.set, m.now).(*breaker.OpenError)
	if refused && !refusal.Until.IsZero() && s.Refusal(m.set, refusal.Until) != nil {
		m.Fatalf("still refused at the time that was told: %+v", s)
	}
	if m.jumped && !refused {
		return
	}
	lease := m.set.Lease
	if lease == 0 {
		lease = 30 * time.Second
	}
	later := m.now.Add(max(m.set.OpenTime(100, 1), lease) + lease)
	if s.Forced {
		later = s.Until
	}
	err := s.Refusal(m.set, later)
	if forEver := s.Forced && s.Until.IsZero(); forEver != (err != nil) {
		m.Fatalf("at %v, asked at %v: %v: %+v", m.now, later, err, s)
	}
}
