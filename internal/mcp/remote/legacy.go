package remote

import (
	"context"
	"net/http"
	"time"

	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/message"
)

// endpointWait is how long a server of 2024-11-05 may take to say where it wants its messages.
const endpointWait = 3 * time.Second

// mayBeLegacy says whether a status may be that of a server which speaks HTTP+SSE only. It is what the protocol names for
// finding out, before anything else has been answered.
func (c *conn) mayBeLegacy(code int) bool {
	return !c.server.worked.Load() && !c.server.legacy.Load() &&
		(code == http.StatusBadRequest || code == http.StatusNotFound || code == http.StatusMethodNotAllowed)
}

// becomeLegacy finds out whether the server speaks HTTP+SSE, and has the connection speak it.
func (c *conn) becomeLegacy() bool {
	c.probing.Lock()
	defer c.probing.Unlock()
	if c.session.speaksLegacy() {
		return true
	}
	if c.openLegacy(c.ctx) != nil {
		return false
	}
	c.server.legacy.Store(true)
	return true
}

// openLegacy opens the stream of HTTP+SSE, which has all answers. Its first event is the endpoint.
func (c *conn) openLegacy(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	resp, loss := c.reach(ctx, mcp.Outgoing{}, func() (*http.Response, bool, error) { return c.get(ctx, "") })
	switch {
	case loss != nil:
		cancel()
		return message.Error(loss.How)
	case resp.StatusCode != http.StatusOK || mediaType(resp) != "text/event-stream":
		how := message.HTTPStatus(statusText(resp), "")
		if resp.StatusCode == http.StatusOK {
			how = message.WrongType(mediaType(resp))
		}
		discard(resp)
		cancel()
		return message.Error(how)
	}
	found := make(chan error, 2)
	if !c.spawn(func() {
		defer cancel()
		defer resp.Body.Close()
		err := read(&events{inbox: c.peer.Inbox(), named: func(event string, data []byte) {
			if event == "endpoint" && !c.session.speaksLegacy() {
				select {
				case found <- c.session.setEndpoint(string(data)):
				default:
				}
			}
		}}, resp.Body, nil)
		if !c.session.speaksLegacy() {
			select {
			case found <- message.Error(message.NoEndpoint()):
			default:
			}
			return
		}
		go c.end(mcp.End{How: message.ConnectionCut(err)})
	}) {
		cancel()
		resp.Body.Close()
		return message.Error(message.SessionOver())
	}
	timer := time.NewTimer(endpointWait)
	defer timer.Stop()
	select {
	case err := <-found:
		if err != nil {
			cancel()
		}
		return err
	case <-timer.C:
		cancel()
		return message.Error(message.NoEndpoint())
	}
}
