package remote

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/mcp/relay"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/verdict"
)

// conn is one session with the server.
type conn struct {
	server *Server
	peer   mcp.Peer

	ctx          context.Context // of all that is under way
	cancel       context.CancelFunc
	listenCtx    context.Context // of the stream that belongs to no request
	listenCancel context.CancelFunc
	work         sync.WaitGroup
	probing      sync.Mutex // held while it is found out whether the server speaks HTTP+SSE

	mu        sync.Mutex
	url       *url.URL      // where the server is: redirects are followed once
	session   string        // what the server calls the session; empty if it has no name
	version   string        // of the protocol
	endpoint  *url.URL      // where a server of 2024-11-05 wants its messages
	closed    bool          // nothing more is sent
	ended     bool          // Ended has been called, or is being
	over      chan struct{} // closed when it has returned
	listening bool
	exchanges map[string]*exchange
	waiting   map[string]mcp.Outgoing // requests that are answered on another stream than their own
	barrier   chan struct{}           // closed when the server has taken every notification that was sent before
}

// The times that are not configurable.
const (
	orderWait   = 10 * time.Second       // how long a message waits for those that were sent before it
	noticeLimit = 30 * time.Second       // for a notification, or an answer of the client
	closeLimit  = 2 * time.Second        // for the end of the session
	dyingTime   = 100 * time.Millisecond // a process that is being killed still takes connections: what is repeated at once would be cut once more
	firstReach  = 4 * time.Second        // how long a server that has never answered is tried when it cannot be reached
	reachLimit  = 20 * time.Second       // how long one that has is tried: it is being restarted
	afterAnswer = 5 * time.Second        // how long a stream may stay open that has had its answer
)

// Open implements [mcp.Connection]. Streamable HTTP has nothing to open: the first request does it.
func (c *conn) Open() {
	if c.server.legacy.Load() {
		c.spawn(func() {
			if err := c.openLegacy(c.ctx); err != nil {
				go c.end(mcp.End{Err: err})
				return
			}
			c.peer.Opened()
		})
		return
	}
	go c.peer.Opened()
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

// Send implements [mcp.Connection]. Requests overtake each other, as they do at the server; but what was a notification, or
// an answer, or opened the session, has been taken by the server before anything that follows is sent.
func (c *conn) Send(m mcp.Outgoing) {
	c.mu.Lock()
	before := c.barrier
	var taken chan struct{}
	if m.ID == "" {
		taken = make(chan struct{})
		c.barrier = taken
	}
	x := &exchange{conn: c, m: m, before: before, taken: taken, written: make(chan struct{})}
	x.ctx, x.cancel = context.WithCancel(c.ctx)
	if m.ID != "" && !c.closed {
		c.exchanges[m.ID] = x
	}
	c.mu.Unlock()
	if !c.spawn(x.run) {
		x.cancel()
		x.release()
		go func() {
			<-c.over // before that, the proxy would send it here again
			c.lose(m, relay.Loss{Kind: relay.Undone, How: message.SessionOver()})
		}()
	}
}

// lose reports a request that is not answered. What waits for no answer has none to lose.
func (c *conn) lose(m mcp.Outgoing, l relay.Loss) {
	if m.ID == "" {
		return
	}
	if l.Kind == relay.Cut && l.Class == verdict.Network {
		sleep(c.ctx, dyingTime)
	}
	c.peer.Lost(m, l)
}

// waits says whether a request still has no answer.
func (c *conn) waits(m mcp.Outgoing) bool {
	if m.ID == "" {
		return false
	}
	_, ok := c.peer.Waits(m.ID)
	return ok
}

// await keeps a request whose answer comes on another stream.
func (c *conn) await(m mcp.Outgoing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting[m.ID] = m
	if len(c.waiting)%256 == 0 { // those that were answered need not be remembered
		go c.sweep()
	}
}

func (c *conn) sweep() {
	for _, m := range c.takeWaiting() {
		if c.waits(m) {
			c.mu.Lock()
			c.waiting[m.ID] = m
			c.mu.Unlock()
		}
	}
}

func (c *conn) takeWaiting() map[string]mcp.Outgoing {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.waiting
	c.waiting = map[string]mcp.Outgoing{}
	return all
}

// Stop implements [mcp.Connection].
func (c *conn) Stop() { go c.end(mcp.End{How: message.SessionOver()}) }

// Close implements [mcp.Connection]. The server is told, so that it need not keep the session.
func (c *conn) Close() {
	go func() {
		c.mu.Lock()
		before, session, closed := c.barrier, c.session, c.closed
		c.mu.Unlock()
		ctx, cancel := context.WithTimeout(c.ctx, closeLimit)
		defer cancel()
		select {
		case <-before:
		case <-ctx.Done():
		}
		if session != "" && !closed {
			if resp, err := c.send(ctx, http.MethodDelete, nil, c.header(mcp.Outgoing{}), nil); err == nil {
				discard(resp)
			}
		}
		c.end(mcp.End{How: message.SessionOver()})
	}()
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
	for _, m := range c.takeWaiting() {
		c.lose(m, relay.Loss{How: how})
	}
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
	for _, m := range c.takeWaiting() {
		c.lose(m, relay.Loss{How: message.DeathForgot()})
	}
}

// named says whether the server has given the session a name, which it then can forget.
func (c *conn) named() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session != ""
}
