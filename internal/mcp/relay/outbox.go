package relay

import (
	"slices"
	"time"

	"github.com/belay-run/belay/internal/mcp/wire"
)

// outbox is what the server is sent: at once, or as soon as there is one that takes it.
type outbox struct {
	settings *Settings
	out      Outlets
	alarm    *alarm
	life     *life
	calls    *calls
	tools    *tools
	queue
}

// send gives a call to the server.
func (o *outbox) send(k *call, parts ...[]byte) {
	k.generation = o.life.generation
	o.calls.sent(k)
	if k.timing.send(time.Now(), o.settings.maxTimeout()); k.limit > 0 {
		o.alarm.set(k.due)
	}
	o.out.ToServer(parts...)
}

// ask sends a request of our own.
func (o *outbox) ask(kind string, limit time.Duration, parts func(id string) [][]byte, reply func(m *wire.Message, lost string)) {
	id := ""
	for id == "" || o.calls.byID[id] != nil {
		id = o.calls.newID(kind)
	}
	k := &call{request: request{method: kind}, timing: timing{limit: limit}, wire: id, reply: reply}
	o.send(k, parts(id)...)
}

// hold keeps a call until there is a server for it.
func (o *outbox) hold(k *call) {
	from := time.Now()
	if k.notBefore.After(from) {
		from = k.notBefore
	}
	k.timing.hold(from, o.settings.startTimeout())
	o.calls.add(k)
	o.alarm.set(k.due)
	o.queue.add(waiting{call: k})
}

// release sends what has waited, but for calls that are sent again and have to wait longer.
func (o *outbox) release() {
	if o.life.phase != ready {
		return
	}
	for _, w := range o.queue.take() {
		k := w.call
		switch {
		case k != nil && !o.calls.holds(k): // it was answered or cancelled meanwhile
		case !o.life.takes() || k != nil && time.Now().Before(k.notBefore):
			o.queue.add(w)
		case k == nil:
			o.out.ToServer(w.line)
		default:
			line := k.line
			if !k.listens && !o.tools.keeps(k, len(line)) {
				k.line = nil
			}
			o.send(k, k.addressed(line)...)
		}
	}
}

// queue is what waits for the server.
type queue struct {
	lines []waiting
	bytes int
}

// waiting is a line for a server that is not ready: a call, or a notification.
type waiting struct {
	call *call
	line []byte
}

func (w waiting) size() int {
	if w.call != nil {
		return len(w.call.line)
	}
	return len(w.line)
}

const (
	maxQueue  = 1000
	maxQueued = 64 << 20
)

// full says whether there is no room for a line of that size.
func (q *queue) full(size int) bool { return len(q.lines) >= maxQueue || q.bytes+size > maxQueued }

func (q *queue) add(all ...waiting) {
	for _, w := range all {
		q.lines = append(q.lines, w)
		q.bytes += w.size()
	}
}

// take empties the queue.
func (q *queue) take() []waiting {
	lines := q.lines
	q.lines, q.bytes = nil, 0
	return lines
}

// takeHeld empties the queue, but for the calls that were answered or cancelled meanwhile: those are gone.
func (q *queue) takeHeld(c *calls) []waiting {
	return slices.DeleteFunc(q.take(), func(w waiting) bool { return w.call != nil && !c.holds(w.call) })
}
