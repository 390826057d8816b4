package mcp

import (
	"sync"
	"time"

	"github.com/belay-run/belay/internal/mcp/relay"
)

// maxUnlogged is how many incidents may wait to be logged. A line takes some microseconds.
const maxUnlogged = 4096

// incidents are logged by a goroutine of their own: the log may be slow, and the work is not to wait for it.
type incidents struct {
	opt    *Options
	logged chan struct{}

	mu       sync.Mutex
	waiting  chan *relay.Incident // nil: the log is closed
	unlogged int                  // incidents that came faster than they were logged
}

func newIncidents(opt *Options) *incidents {
	return &incidents{opt: opt, logged: make(chan struct{}), waiting: make(chan *relay.Incident, maxUnlogged)}
}

func (l *incidents) add(i relay.Incident) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting == nil {
		return
	}
	select {
	case l.waiting <- &i:
	default:
		l.unlogged++
	}
}

// start logs until close is called.
func (l *incidents) start() {
	waiting := l.waiting
	go func() {
		defer close(l.logged)
		for i := range waiting {
			l.write(i)
		}
	}()
}

// write logs an incident, and how many could not be.
func (l *incidents) write(i *relay.Incident) {
	if l.opt.Log == nil {
		return
	}
	entry := func(i *relay.Incident) { l.opt.Log(i.Entry(&l.opt.Settings, l.opt.ID, l.opt.command(), time.Now())) }
	entry(i)
	l.mu.Lock()
	n := l.unlogged
	l.unlogged = 0
	l.mu.Unlock()
	if n > 0 {
		more := relay.Unrecorded(n)
		entry(&more)
	}
}

// close waits until all are logged.
func (l *incidents) close() {
	l.mu.Lock()
	close(l.waiting)
	l.waiting = nil
	l.mu.Unlock()
	<-l.logged
}
