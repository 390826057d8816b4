package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/mcp/relay"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

const (
	firstReach  = 4 * time.Second  // how long a server that has never answered is tried when it cannot be reached
	reachLimit  = 20 * time.Second // how long one that has is tried: it is being restarted
	noticeLimit = 30 * time.Second // for a notification, or an answer of the client
)

// Refusals are waited for and repeated this often.
const maxRefusals = 3

// reach makes a request until the server takes it, for a bounded time: as long as it cannot be reached, and as often as it
// refuses it for now. Nothing has been done by then. The response is one to be read, or there is a loss.
func (c *client) reach(ctx context.Context, m mcp.Outgoing, once func() (resp *http.Response, sent bool, err error)) (*http.Response, *relay.Loss) {
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
func (c *client) hasTime(m mcp.Outgoing, wait time.Duration) bool {
	if m.ID == "" {
		return wait <= noticeLimit
	}
	until, ok := c.peer.Waits(m.ID)
	return ok && (until.IsZero() || time.Now().Add(wait).Before(until))
}

func (c *client) throttled(code int, status string, tries int, asked time.Duration) *relay.Loss {
	class := verdict.RateLimit
	if code == http.StatusServiceUnavailable {
		class = verdict.Overloaded
	}
	return &relay.Loss{Kind: relay.Refused, How: message.Throttled(status, tries, asked), Class: class, Answered: true}
}

// failure is what an error of a request means. sent says that the server may have got it.
func (c *client) failure(err error, sent bool) *relay.Loss {
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
