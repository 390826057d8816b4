package remote

import (
	"context"
	"net/http"
	"time"

	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/mcp/relay"
	"github.com/belay-run/belay/internal/message"
)

var _ mcp.Remote = (*Server)(nil)

// Connect implements [mcp.Remote].
func (s *Server) Connect(ctx context.Context, to mcp.Peer) mcp.Connection {
	s.once.Do(func() { context.AfterFunc(ctx, s.closeIdle) })
	ctx, cancel := context.WithCancel(ctx)
	c := &conn{client: &client{s, &session{url: s.opt.URL}, to}, unanswered: &unanswered{ctx: ctx, to: to, elsewhere: map[string]mcp.Outgoing{}},
		order: newOrder(), ctx: ctx, cancel: cancel, over: make(chan struct{})}
	c.listenCtx, c.listenCancel = context.WithCancel(ctx)
	return c
}

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

// Send implements [mcp.Connection].
func (c *conn) Send(m mcp.Outgoing) {
	x := &exchange{conn: c, m: m}
	x.ctx, x.cancel = context.WithCancel(c.ctx)
	x.turn = c.order.enter(m, x.cancel)
	if !c.spawn(x.run) {
		c.order.leave(x.turn)
		go func() {
			<-c.over // before that, the proxy would send it here again
			c.lose(m, relay.Loss{Kind: relay.Undone, How: message.SessionOver()})
		}()
	}
}

// run carries the message to the server, and its answer back.
func (x *exchange) run() {
	c := x.conn
	defer c.order.leave(x.turn)
	c.order.wait(x.ctx, x.turn)
	ctx := x.ctx
	if x.m.ID == "" {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, noticeLimit)
		defer cancel()
	}
	resp, loss := x.send(ctx)
	c.order.giveUp(x.turn)
	if loss != nil {
		c.lose(x.m, *loss)
		return
	}
	x.receive(resp)
}

// Stop implements [mcp.Connection].
func (c *conn) Stop() { go c.end(mcp.End{How: message.SessionOver()}) }

// closeLimit is how long the server may take to hear that the session is over.
const closeLimit = 2 * time.Second

// Close implements [mcp.Connection]. The server is told, so that it need not keep the session.
func (c *conn) Close() {
	go func() {
		before, named, closed := c.order.last(), c.session.named(), c.isClosed()
		ctx, cancel := context.WithTimeout(c.ctx, closeLimit)
		defer cancel()
		select {
		case <-before:
		case <-ctx.Done():
		}
		if named && !closed {
			if resp, err := c.send(ctx, http.MethodDelete, nil, c.header(mcp.Outgoing{}), nil); err == nil {
				discard(resp)
			}
		}
		c.end(mcp.End{How: message.SessionOver()})
	}()
}
