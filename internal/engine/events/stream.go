// Package events carries what happens in an invocation to those who watch it: an iterator, a function, the processes that look at a run. None of them can
// hold it up.
package events

import (
	"bytes"
	"slices"
	"sync"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
)

// Stream carries the events of an invocation to any number of readers, none of which can hold it up or another reader.
type Stream struct {
	Observe func(belaytype.Event) // nil if there is none

	observing sync.Mutex // of calls of observe

	mu      sync.Mutex
	readers []*reader
	early   *reader // keeps what comes before the first reader; nil if nothing is to be kept, or it has a reader
	over    bool
}

// maxBacklog bounds the bytes of lines that are kept for a reader that does not keep up; the oldest are dropped.
const maxBacklog = 16 << 20

// Backlog keeps events for the first reader, which may come late.
func (s *Stream) Backlog() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.early = newReader()
	s.readers = append(s.readers, s.early)
}

// Emit tells all readers of an event.
func (s *Stream) Emit(e belaytype.Event) {
	if s.Observe != nil {
		s.observing.Lock()
		s.Observe(e)
		s.observing.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.readers {
		r.put(e, 0)
	}
}

// line tells the readers of a line that an agent has printed. It is copied only if there are any.
func (s *Stream) line(attempt int, line agent.Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.readers) == 0 {
		return
	}
	text := bytes.Clone(line.Text)
	if line.Long != nil {
		var whole bytes.Buffer
		line.Long.WriteTo(&whole)
		text = whole.Bytes()
	}
	for _, r := range s.readers {
		r.put(belaytype.AgentEvent{Attempt: attempt, Line: text}, len(text))
	}
}

// End says that there are no more events.
func (s *Stream) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	for _, r := range s.readers {
		close(r.over)
	}
}

// Join adds a reader. The first one gets what was kept so far.
func (s *Stream) Join() *reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.early; r != nil {
		s.early = nil
		return r
	}
	return s.add()
}

// listen adds a reader that gets only what comes from now on, and leaves what was kept to the first one that joins.
func (s *Stream) listen() *reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add()
}

// add adds a reader. The lock is held.
func (s *Stream) add() *reader {
	r := newReader()
	if s.over {
		close(r.over)
		return r
	}
	s.readers = append(s.readers, r)
	return r
}

// Leave ends a reader. One that comes back finds the end.
func (s *Stream) Leave(r *reader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.readers, r); i >= 0 {
		s.readers = slices.Delete(s.readers, i, i+1)
		if !s.over {
			close(r.over)
		}
	}
}

// reader is one reader's queue.
type reader struct {
	more chan struct{} // there may be more in the queue
	over chan struct{} // there will be no more

	mu     sync.Mutex
	queue  []belaytype.Event
	size   int // bytes of the lines in it
	missed int // lines that were dropped
}

func newReader() *reader {
	return &reader{more: make(chan struct{}, 1), over: make(chan struct{})}
}

// put adds an event. size counts the bytes of a line; if the queue has too many, the oldest lines make room.
func (r *reader) put(e belaytype.Event, size int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = append(r.queue, e)
	r.size += size
	for i := 0; r.size > maxBacklog && i < len(r.queue)-1; {
		old, ok := r.queue[i].(belaytype.AgentEvent)
		if !ok {
			i++
			continue
		}
		r.size -= len(old.Line)
		r.missed++
		r.queue = slices.Delete(r.queue, i, i+1)
	}
	select {
	case r.more <- struct{}{}:
	default: // it knows
	}
}

// take empties the queue.
func (r *reader) take() []belaytype.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.queue
	if r.missed > 0 {
		events = slices.Insert(events, 0, belaytype.Event(belaytype.Missed{Lines: r.missed}))
	}
	r.queue, r.size, r.missed = nil, 0, 0
	return events
}

// Each hands on what comes, until there is no more or no more is wanted.
func (r *reader) Each(yield func(belaytype.Event) bool) {
	for {
		over := false
		select {
		case <-r.more:
		case <-r.over:
			over = true
		}
		for _, e := range r.take() {
			if !yield(e) {
				return
			}
		}
		if over {
			return
		}
	}
}
