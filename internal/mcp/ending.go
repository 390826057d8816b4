package mcp

import (
	"sync"
	"time"
)

// lastResort is for how long nothing may move at the end: longer than a server takes to end, and then the tree is given the time that it needs.
const lastResort = 15 * time.Second

// ending is the end of a proxy: when all is over, and when it is not waited for any more.
type ending struct {
	ended chan struct{} // the relay has nothing left to do
	stuck chan struct{} // the end takes too long
	once  sync.Once
	begun sync.Once
}

func newEnding() *ending { return &ending{ended: make(chan struct{}), stuck: make(chan struct{})} }

func (e *ending) over() { e.once.Do(func() { close(e.ended) }) }

// watch stops waiting for an end that does not come.
func (e *ending) watch(s *state) {
	e.begun.Do(func() {
		s.client.hasMoved()
		time.AfterFunc(lastResort, func() { e.giveUp(s) })
	})
}

// giveUp stops waiting for the end if nothing has moved for long, but not before the server's tree has ended, which can take long on a busy
// machine. A client that reads slowly gets all that there is.
func (e *ending) giveUp(s *state) {
	s.mu.Lock()
	busy := s.server != nil && !s.server.gone()
	s.mu.Unlock()
	left := lastResort - s.client.idle()
	if busy {
		left = max(left, time.Second)
	}
	if left > 0 {
		time.AfterFunc(left, func() { e.giveUp(s) })
		return
	}
	close(e.stuck)
}
