package engine

import (
	"sync"
	"time"

	"github.com/belay-run/belay/internal/look"
)

// lookers send what an agent prints to the processes that look at its run.
type lookers struct {
	stream *stream
	id     string

	mu      sync.Mutex
	sockets look.Sockets // with no directory where there is no state
	asked   time.Time
	known   map[string]bool
}

// meet connects to processes that have begun to look. It is called before each line, and checks twice a second at most.
func (l *lookers) meet() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.sockets.Dir == "" || now.Sub(l.asked) < look.Interval {
		return
	}
	l.asked = now
	if l.known == nil {
		l.known = map[string]bool{}
	}
	for _, conn := range l.sockets.Dial(l.id, l.known) {
		go l.tell(conn, l.stream.listen())
	}
}

// tell sends what the agent prints until the invocation or the connection ends.
func (l *lookers) tell(conn look.Conn, r *reader) {
	sender := look.NewSender(conn, func() { l.stream.leave(r) })
	defer sender.Close()
	defer l.stream.leave(r)
	r.each(func(e Event) bool {
		switch e := e.(type) {
		case AgentEvent:
			return sender.Send(look.NewLine(e.Attempt, e.Line)) == nil
		case Missed:
			return sender.Send(look.Line{Missed: e.Lines}) == nil
		}
		return true
	})
}
