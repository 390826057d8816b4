package remote

import (
	"context"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/message"
)

// conn is a connection: one session with the server, and what is under way in it.
type conn struct {
	*client
	*unanswered
	order *order

	ctx          context.Context // of all that is under way
	cancel       context.CancelFunc
	listenCtx    context.Context // of the stream that belongs to no request
	listenCancel context.CancelFunc
	work         sync.WaitGroup
	probing      sync.Mutex // held while it is found out whether the server speaks HTTP+SSE

	mu        sync.Mutex
	listening bool
	closed    bool          // nothing more is sent
	ended     bool          // Ended has been called, or is being
	over      chan struct{} // closed when it has returned
}

// spawn runs what belongs to the connection. False means that the connection has ended.
func (c *conn) spawn(do func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.work.Go(do)
	return true
}

// end ends everything that is under way, and tells the proxy when it is.
func (c *conn) end(e mcp.End) {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.work.Wait()
	how := e.How
	if e.Err != nil {
		how = message.DeathNotReached(e.Err)
	}
	c.loseAll(how)
	c.tellEnd(e)
}

func (c *conn) tellEnd(e mcp.End) {
	c.mu.Lock()
	told := c.ended
	c.ended = true
	c.mu.Unlock()
	if !told {
		c.peer.Ended(e)
		close(c.over)
	}
}

// forgotten is called when the server does not know the session. Requests that are under way go on: a server that has dropped
// a session need not have dropped what it was asked in it.
func (c *conn) forgotten() {
	c.listenCancel()
	c.tellEnd(mcp.End{Forgotten: true})
	time.AfterFunc(orderWait, c.retire)
}

// retire frees what is left of a session that was forgotten, when its last request is over.
func (c *conn) retire() {
	c.mu.Lock()
	again := c.closed
	c.closed = true
	c.mu.Unlock()
	if again {
		return
	}
	c.work.Wait()
	c.cancel()
	c.loseAll(message.DeathForgot())
}

// isClosed says that nothing more is sent.
func (c *conn) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}
