package events

import (
	"bytes"
	"sync"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/look"
)

// Viewers send what an agent prints to the processes that look at its run. One that begins to look gets the last lines first: an agent may well be
// silent for as long as its tool takes, and what it has called is in the line before.
type Viewers struct {
	Stream  *Stream
	ID      string
	Sockets look.Sockets // with no directory where there is no state

	mu     sync.Mutex
	recent [16]pastLine // a ring
	lines  int          // that the agent has printed
	check  *time.Timer  // nil before the first line
	over   bool

	telling sync.WaitGroup

	known map[string]bool // used by meet alone
}

// pastLine is a line that was printed.
type pastLine struct {
	attempt int
	text    []byte
}

// Line tells of a line that the agent has printed.
func (l *Viewers) Line(attempt int, line agent.Line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Sockets.Dir != "" && !l.over {
		if l.check == nil {
			l.known = map[string]bool{}
			l.check = time.AfterFunc(0, l.meet)
		}
		if len(line.Text) <= look.MaxLine { // that of a long line is abridged
			past := &l.recent[l.lines%len(l.recent)]
			past.attempt, past.text = attempt, append(past.text[:0], line.Text...)
			l.lines++
		}
	}
	l.Stream.line(attempt, line)
}

// meet connects to processes that have begun to look, and schedules the next check.
func (l *Viewers) meet() {
	found := l.Sockets.Dial(l.ID, l.known)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		for _, conn := range found {
			conn.Close()
		}
		return
	}
	for _, conn := range found {
		past, r := l.past(), l.Stream.listen()
		l.telling.Go(func() { l.tell(conn, past, r) })
	}
	l.check.Reset(look.Interval)
}

// past are the last lines. The lock is held.
func (l *Viewers) past() (list []pastLine) {
	for i := max(0, l.lines-len(l.recent)); i < l.lines; i++ {
		past := l.recent[i%len(l.recent)]
		list = append(list, pastLine{past.attempt, bytes.Clone(past.text)})
	}
	return list
}

// End ends the checks.
func (l *Viewers) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	if l.check != nil {
		l.check.Stop()
	}
}

// farewell is how long a run waits at its end for those who look to get its last lines. One who does not read holds it up that long, and no longer.
const farewell = time.Second / 4

// Part returns when all who look have been told everything, or after a moment. It comes after the end of the stream.
func (l *Viewers) Part() {
	l.mu.Lock()
	looked := l.check != nil
	l.mu.Unlock()
	if !looked {
		return
	}
	told := make(chan struct{})
	go func() {
		l.telling.Wait()
		close(told)
	}()
	select {
	case <-told:
	case <-time.After(farewell):
	}
}

// tell sends the last lines, and what the agent prints until the invocation or the connection ends.
func (l *Viewers) tell(conn look.Conn, past []pastLine, r *reader) {
	sender := look.NewSender(conn, func() { l.Stream.Leave(r) })
	defer sender.Close()
	defer l.Stream.Leave(r)
	for _, p := range past {
		if sender.Send(look.NewLine(p.attempt, p.text)) != nil {
			return
		}
	}
	r.Each(func(e belaytype.Event) bool {
		switch e := e.(type) {
		case belaytype.AgentEvent:
			return sender.Send(look.NewLine(e.Attempt, e.Line)) == nil
		case belaytype.Missed:
			return sender.Send(look.Line{Missed: e.Lines}) == nil
		}
		return true
	})
}
