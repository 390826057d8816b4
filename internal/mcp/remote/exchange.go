package remote

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/mcp/relay"
)

// exchange is one message and what becomes of it.
type exchange struct {
	conn   *conn
	m      mcp.Outgoing
	ctx    context.Context
	cancel context.CancelFunc
	turn   *turn
}

// send sends the message until the server takes it. The response is one to be read, or there is a loss.
func (x *exchange) send(ctx context.Context) (*http.Response, *relay.Loss) {
	return x.conn.reach(ctx, x.m, func() (*http.Response, bool, error) {
		var began atomic.Bool
		resp, err := x.conn.post(ctx, x.m, func() {
			began.Store(true)
			x.turn.isWritten()
		})
		return resp, began.Load(), err
	})
}
