package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/mcp/relay"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// exchange is one message and what becomes of it.
type exchange struct {
	conn   *conn
	m      mcp.Outgoing
	ctx    context.Context
	cancel context.CancelFunc

	before  chan struct{} // closed when what has to be there first has been taken
	taken   chan struct{} // closed when this has been; nil if nothing waits for it
	written chan struct{} // closed when the server has begun to get it
	once    sync.Once
}

// release lets follow what waits for this message.
func (x *exchange) release() {
	x.once.Do(func() { close(x.written) })
	if x.taken != nil {
		close(x.taken)
		x.taken = nil
	}
}

// run carries the message to the server, and its answer back.
func (x *exchange) run() {
	c := x.conn
	defer func() {
		x.cancel()
		x.release()
		c.mu.Lock()
		if c.exchanges[x.m.ID] == x {
			delete(c.exchanges, x.m.ID)
		}
		c.mu.Unlock()
	}()
	x.inTurn()
	ctx := x.ctx
	if x.m.ID == "" {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, noticeLimit)
		defer cancel()
	}
	resp, loss := c.reach(ctx, x.m, func() (*http.Response, bool, error) { return x.post(ctx) })
	if x.m.Cancels != "" {
		c.abandon(x.m.Cancels)
	}
	if loss != nil {
		c.lose(x.m, *loss)
		return
	}
	x.receive(resp)
}

// inTurn waits until what was sent before has been taken: notifications, and of what a notification cancels, the request.
func (x *exchange) inTurn() {
	timer := time.NewTimer(orderWait)
	defer timer.Stop()
	select {
	case <-x.before:
	case <-timer.C:
	case <-x.ctx.Done():
	}
	if x.m.Cancels == "" {
		return
	}
	x.conn.mu.Lock()
	request := x.conn.exchanges[x.m.Cancels]
	x.conn.mu.Unlock()
	if request != nil {
		select {
		case <-request.written:
		case <-timer.C:
		case <-x.ctx.Done():
		}
	}
}

// abandon gives up a request that the server has been told to cancel: its answer goes nowhere.
func (c *conn) abandon(id string) {
	c.mu.Lock()
	x := c.exchanges[id]
	c.mu.Unlock()
	if x != nil {
		x.cancel()
	}
}

// post sends the message once. sent says that the server may have got it.
func (x *exchange) post(ctx context.Context) (resp *http.Response, sent bool, err error) {
	h := x.conn.header(x.m)
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	var began atomic.Bool
	resp, err = x.conn.send(ctx, http.MethodPost, x.m.Body, h, func() {
		began.Store(true)
		x.once.Do(func() { close(x.written) })
	})
	return resp, began.Load(), err
}

// Refusals are waited for and repeated this often.
const maxRefusals = 3

// reach makes a request until the server takes it, for a bounded time: as long as it cannot be reached, and as often as it
// refuses it for now. Nothing has been done by then. The response is one to be read, or there is a loss.
func (c *conn) reach(ctx context.Context, m mcp.Outgoing, once func() (resp *http.Response, sent bool, err error)) (*http.Response, *relay.Loss) {
	begun, refusals, limit := time.Now(), 0, firstReach
	if c.server.worked.Load() {
		limit = reachLimit
	}
	for try := 0; ; try++ {
		resp, sent, err := once()
		var wait time.Duration
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, &relay.Loss{How: message.SessionOver()}
		case err != nil:
			loss := c.failure(err, sent)
			if loss.Kind != relay.Undone {
				return nil, loss
			}
			if wait = backoff(try); time.Since(begun)+wait > limit || !c.hasTime(m, wait) {
				loss.Kind = relay.Refused
				return nil, loss
			}
		case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable:
			status, asked := statusText(resp), hintOf(resp)
			discard(resp)
			if wait = asked; wait == 0 {
				wait = max(backoff(try+3), 500*time.Millisecond)
			}
			if refusals++; refusals > maxRefusals || !c.hasTime(m, wait) {
				return nil, c.throttled(resp.StatusCode, status, refusals, asked)
			}
		default:
			return resp, nil
		}
		if !sleep(ctx, wait) {
			return nil, &relay.Loss{How: message.SessionOver()}
		}
	}
}

// hasTime says whether a request can wait that long for its next try.
func (c *conn) hasTime(m mcp.Outgoing, wait time.Duration) bool {
	if m.ID == "" {
		return wait <= noticeLimit
	}
	until, ok := c.peer.Waits(m.ID)
	return ok && (until.IsZero() || time.Now().Add(wait).Before(until))
}

func (c *conn) throttled(code int, status string, tries int, asked time.Duration) *relay.Loss {
	class := verdict.RateLimit
	if code == http.StatusServiceUnavailable {
		class = verdict.Overloaded
	}
	return &relay.Loss{Kind: relay.Refused, How: message.Throttled(status, tries, asked), Class: class, Answered: true}
}

// failure is what an error of a request means. sent says that the server may have got it.
func (c *conn) failure(err error, sent bool) *relay.Loss {
	if foreign, ok := errors.AsType[*foreignError](err); ok {
		return &relay.Loss{Kind: relay.Refused, How: foreign.Error(), Text: message.Sentences(fmt.Sprintf("the MCP server %q redirects to another origin, %s, and belay does not follow: your headers are not meant for it", c.server.opt.Name, foreign.origin), "if that is where the server is now, change --url"),
			Class: verdict.InvalidRequest, Answered: true}
	}
	if errors.Is(err, errRedirects) {
		return &relay.Loss{Kind: relay.Refused, How: "redirects again and again", Class: verdict.InvalidRequest, Answered: true}
	}
	c.server.closeIdle() // those to a server that has ended are dead too, and the next try would meet one of them
	loss := &relay.Loss{How: message.ConnectionCut(err), Class: verdict.Network}
	if !sent {
		loss.Kind, loss.How = relay.Undone, message.DeathNotReached(err)
		loss.Text = message.ServerNotReached(c.server.opt.Name, err)
	}
	if _, bad := errors.AsType[*tls.CertificateVerificationError](err); bad { // waiting does not help
		loss.Kind = relay.Refused
	}
	return loss
}

// backoff is the wait before the next try.
func backoff(try int) time.Duration {
	policy, _ := retry.Preset("mcp")
	return min(policy.Backoff(try), time.Second)
}

// sleep waits, unless ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool { return retry.Sleep(ctx, d) == nil }
