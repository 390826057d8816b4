package engine

import (
	"bytes"
	"iter"
	"sync"

	"github.com/belay-run/belay/internal/agent"
)

// eventQueue carries a CLI's events to whoever wants them. Who does not read them holds nobody up.
type eventQueue struct {
	once   sync.Once
	lines  chan []byte   // nil if nobody wants any
	closed chan struct{} // nobody wants any more
}

func newEventQueue() *eventQueue {
	return &eventQueue{lines: make(chan []byte, 16), closed: make(chan struct{})}
}

// put hands over an event, and waits for who reads slowly.
func (q *eventQueue) put(line agent.Line) {
	if q == nil {
		return
	}
	select {
	case <-q.closed:
		return
	default:
	}
	event := bytes.Clone(line.Text)
	if line.Long != nil {
		var whole bytes.Buffer
		line.Long.WriteTo(&whole)
		event = whole.Bytes()
	}
	select {
	case q.lines <- event:
	case <-q.closed:
	}
}

// end says that there are no more; leave that nobody wants any more.
func (q *eventQueue) end() {
	if q != nil {
		close(q.lines)
	}
}

func (q *eventQueue) leave() {
	if q != nil {
		q.once.Do(func() { close(q.closed) })
	}
}

// Events are the lines that an agent prints, of all attempts, each a piece of JSON in the CLI's own words. They end with
// the invocation. An invocation that [Runner.Start] has started waits for whoever reads them, until [Invocation.Wait] is
// called or the loop is left. There are none of a command that is no agent.
func (inv *Invocation) Events() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if inv.events == nil {
			return
		}
		defer inv.events.leave()
		for line := range inv.events.lines {
			if !yield(line) {
				return
			}
		}
	}
}
