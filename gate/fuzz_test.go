package gate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/test/must"
)

// FuzzMachine plays random events, by four clients whose clock jumps now and then, and holds the states against what
// must be true of any.
func FuzzMachine(f *testing.F) {
	f.Add([]byte{0, 0, 0, 3, 0, 7, 5, 0, 0, 1, 0, 2, 0, 8, 0, 0, 1})
	f.Add([]byte{1, 0, 0, 4, 0, 0, 0, 4, 0, 7, 60, 0, 0, 1, 0, 2, 0, 16, 0, 17, 0, 18, 0})
	f.Add([]byte{2, 0, 0, 3, 9, 9, 200, 7, 3, 0, 0, 6, 0, 10, 5, 9, 1, 11, 1, 11, 2, 11, 3, 8, 0, 0, 0})
	f.Fuzz(play)
}

// The same without a fuzzer, for every run of the tests.
func TestMachine_RandomEvents(t *testing.T) {
	random := rand.NewChaCha8([32]byte{})
	for range 60 {
		input := make([]byte, 301)
		random.Read(input)
		play(t, input)
	}
}

func play(t *testing.T, input []byte) {
	if len(input) == 0 {
		return
	}
	m := &model{world: newWorld(t), all: map[string]client{}}
	m.set = []gate.Settings{
		{},
		{Breaker: breaker.Settings{Failures: 1, Successes: 1}},
		{Breaker: breaker.Settings{Failures: 2, Open: second, MaxOpen: 5 * second, Lease: 10 * second}, Hold: second, MaxHold: 3 * second, Answer: 2 * second},
		{Hold: time.Hour, MaxHold: time.Second, Answer: 10 * minute},
	}[input[0]%4]
	for input = input[1:min(len(input), 601)]; len(input) >= 2; input = input[2:] {
		m.step(input[0], input[1])
	}
}

// model is a world with clients in it.
type model struct {
	*world
	clients [4]client
	calls   int
	all     map[string]client // that have started and not ended
	jumped  bool              // the clock has
}

type client struct {
	ticket  gate.Ticket
	renewed time.Time
}

// step plays one event: a picks the event and the client, b is its argument.
func (m *model) step(a, b byte) {
	c := &m.clients[int(a>>4)%4]
	before := m.state
	holder := c.ticket.Holder
	switch event := a % 13; event {
	case 0:
		m.ask(c)
	case 1:
		m.answered(&c.ticket)
		delete(m.all, holder)
	case 2:
		m.succeeded(c.ticket)
		delete(m.all, holder)
	case 3:
		m.throttled(c.ticket, time.Duration(b%8)*10*second)
		delete(m.all, holder)
		if m.state.Hold.Left(m.now) < before.Hold.Left(m.now) {
			m.Fatalf("a throttle has made a hold shorter:\n%s\n%s", show(before), show(m.state))
		}
	case 4:
		c.ticket.Breaker.Caller = []string{"", "x", "y", "z"}[b%4]
		m.failed(c.ticket)
		delete(m.all, holder)
		again := m.state.Failed(m.set, m.now, c.ticket, 0, "network of curl, exit 7")
		if c.ticket.Breaker.Caller != "" && m.state.Breaker.Phase == breaker.Closed && again.Breaker != m.state.Breaker {
			m.Fatalf("a second failure of one caller in a row counted:\n%s\n%s", show(m.state), show(again))
		}
	case 5:
		m.state = m.state.Released(c.ticket)
		delete(m.all, holder)
	case 6:
		m.state = m.state.Renewed(m.set, m.now, c.ticket)
		if _, out := m.all[holder]; out {
			m.all[holder] = client{c.ticket, m.now}
		}
	case 7, 8:
		m.later(time.Duration(b) * second)
	case 9:
		m.later(time.Duration(int8(b)) * minute) // ±2 h
		m.jumped, m.all = true, map[string]client{}
	case 10:
		m.state = m.state.Held(m.now, m.now.Add(time.Duration(b)*minute), "by hand")
	case 11:
		m.state = m.state.Reset(m.now)
		m.all = map[string]client{}
		m.healthy(true)
	case 12:
		left := m.state.Budget.Left(m.now)
		if ok := m.spend(); ok != (left >= 1-1e-9) {
			m.Fatalf("%v of the budget is left, and a retry is %v", left, ok)
		}
	}
	if m.state.Healthy(m.now) && a%2 == 0 {
		m.state = gate.State{} // as a store does
	}
	m.check(before)
}

func (m *model) ask(c *client) {
	m.calls++
	holder := fmt.Sprint(m.calls)
	before := show(m.state)
	next, ticket, refusal := m.state.Ask(m.set, m.now, holder)
	if refusal != nil {
		if show(next) != before {
			m.Fatalf("a refusal has changed the state:\n%s\n%s", before, show(next))
		}
		return
	}
	if m.state.Hold.Live(m.now) {
		m.Fatalf("let in during a hold:\n%s", before)
	}
	m.state = next
	*c = client{ticket, m.now}
	m.onlyProbe(ticket)
	m.fewStarts(before)
	if ticket.Awaited {
		m.all[holder] = *c
	}
}

// onlyProbe says that no other probe of this phase is out whose lease has not expired.
func (m *model) onlyProbe(t gate.Ticket) {
	if !t.Breaker.Probe || m.jumped {
		return
	}
	lease := m.set.Breaker.Lease
	if lease == 0 {
		lease = 30 * second
	}
	for _, other := range m.all {
		o := other.ticket.Breaker
		if o.Probe && o.Generation == t.Breaker.Generation && m.now.Sub(other.renewed) < lease {
			m.Fatalf("a second probe beside %s:\n%s", o.Holder, show(m.state))
		}
	}
}

// fewStarts says that no more are unanswered than the slow start allows.
func (m *model) fewStarts(before string) {
	if r := m.state.Ramp; r.Live(m.now) && len(r.Starts) > r.Allowed {
		m.Fatalf("%d starts where %d are allowed:\n%s\n%s", len(r.Starts), r.Allowed, before, show(m.state))
	}
}

func (m *model) check(before gate.State) {
	s := m.state
	if left := s.Budget.Left(m.now); left < 0 || left > 10 {
		m.Fatalf("%v of the budget is left: %s", left, show(s))
	}
	if s.Ramp.Allowed < 0 || s.Hold.Throttles < 0 || s.Hold.Left(m.now) < 0 {
		m.Fatalf("less than nothing: %s", show(s))
	}
	if s.Healthy(m.now) {
		if _, ticket, refusal := s.Ask(m.set, m.now, "x"); refusal != nil || ticket.Awaited {
			m.Fatalf("healthy, but %+v, %+v: %s", ticket, refusal, show(s))
		}
	}
	m.checkNotStuck()

	var back gate.State
	text := show(s)
	if err := json.Unmarshal([]byte(text), &back); err != nil || show(back) != text {
		m.Fatalf("%s came back as %s, %v", text, show(back), err)
	}
}

// longestOpen is how long the breaker stays open at most: its longest time, and a quarter more.
func (m *model) longestOpen() time.Duration {
	most := m.set.Breaker.MaxOpen
	if most <= 0 {
		most = 10 * time.Minute
	}
	most = max(most, m.set.Breaker.Open)
	return most + min(most/4, math.MaxInt64-most)
}

// checkNotStuck says that from any state a client that waits as told is let in after a time that the settings bound, unless
// a person has said otherwise; and that a refusal tells no time that is too late.
func (m *model) checkNotStuck() {
	hold := max(m.set.Hold, m.set.MaxHold, 80*second) // the longest hint
	answer := max(m.set.Answer, m.set.Breaker.Lease, 30*second)
	longest := max(hold, m.longestOpen(), answer) + 30*second
	if m.jumped { // then one may come after the other
		longest = hold + m.longestOpen() + answer + 90*second
	}
	if h := m.state.Hold; h.Manual { // what a person says counts by the clock
		longest += max(0, h.Until.Sub(m.now))
	}
	for now := m.now; ; {
		_, _, refusal := m.state.Ask(m.set, now, "x")
		if refusal == nil {
			return
		}
		if now.Sub(m.now) > longest {
			m.Fatalf("refused at %v, and still %v later: %+v\n%s", m.now, now.Sub(m.now), refusal, show(m.state))
		}
		next := now.Add(10 * second)
		if !refusal.Until.IsZero() {
			next = refusal.Until
		}
		if !next.After(now) {
			m.Fatalf("refused at %v until %v:\n%s", now, next, show(m.state))
		}
		if _, _, early := m.state.Ask(m.set, next.Add(-1), "x"); early == nil && !m.jumped && !refusal.Until.IsZero() {
			m.Fatalf("let in before the time that was told, %v: %s", next, show(m.state))
		}
		now = next
	}
}

// FuzzFile puts anything into the file of a gate: it is read or set aside, and the gate goes on.
func FuzzFile(f *testing.F) {
	for _, text := range []string{
		"", "{", "{}", "null", "[]", "\x00\x00\x00", `{"v":1,"key":"api","state":{}}`, `{"v":2,"key":"api"}`, `{"v":1,"key":"other","state":{}}`,
		`{"v":1,"key":"api","state":{"hold":{"since":"2026-11-15T12:00:00Z","until":"2026-11-15T12:00:05Z","throttles":1},"ramp":{"allowed":1,"ends":"2026-11-15T12:02:05Z"}}}`,
		`{"v":1,"key":"api","state":{"ramp":{"allowed":-1,"starts":[{}],"last":9223372036854775807,"answers":9223372036854775807}}}`,
		`{"v":1,"key":"api","state":{"breaker":{"phase":"half_open","generation":18446744073709551615,"opens":-5},"budget":{"spent":1e308}}}`,
	} {
		f.Add([]byte(text))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := filepath.Join(dir, fmt.Sprint(os.Getpid())) // fuzzing is done by several processes
		os.MkdirAll(dir, 0o700)
		path := filepath.Join(dir, "api.json")
		must.OK(t, os.WriteFile(path, data, 0o600))
		files := &gate.Files{Dir: dir}
		state, err := files.Load("api")
		if err != nil {
			if !errors.Is(err, gate.ErrDamaged) {
				t.Fatal(err)
			}
			equal(t, "state", show(state), "{}")
			if kept, _ := os.ReadFile(path + ".damaged"); string(kept) != string(data) {
				t.Errorf("set aside was %q", kept)
			}
			if again, err := files.Load("api"); err != nil || show(again) != "{}" {
				t.Errorf("afterwards: %s, %v", show(again), err)
			}
		}
		// Whatever it was, a gate over it works, and a reset makes it healthy.
		g := &gate.Gate{Store: files, Key: "api", Trouble: func(err error) { t.Error(err) }}
		if pass, refusal := g.Enter("a"); refusal == nil {
			pass.Answered()
			pass.Throttled(second, "x")
		}
		if pass, refusal := g.Enter("b"); refusal == nil {
			pass.Failed("x")
		}
		g.Spend()
		now := time.Now()
		if err := files.Update("api", now, func(s gate.State) gate.State { return s.Reset(now) }); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("after a reset: %v", err)
		}
	})
}
