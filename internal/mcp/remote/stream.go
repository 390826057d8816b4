package remote

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/mcp/relay"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/verdict"
)

// buffers are for reading responses.
var buffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// read takes a stream of events to its end. each is called after each piece.
func read(e *events, body io.Reader, each func()) error {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for {
		n, err := body.Read(*buf)
		if n > 0 {
			e.Write((*buf)[:n])
			if each != nil {
				each()
			}
		}
		if errors.Is(err, io.EOF) {
			e.end()
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// follow takes a stream that is the response to a request, and resumes it if it ends without the answer.
func (x *exchange) follow(resp *http.Response) {
	c := x.conn
	answered := func() {
		if !c.waits(x.m) { // a server may leave the stream open now: nothing waits for it
			time.AfterFunc(afterAnswer, x.cancel)
		}
	}
	place := &events{}
	resumed := false
	for failures := 0; ; {
		place = &events{inbox: c.peer.Inbox(), lastID: place.lastID, id: place.lastID, retry: place.retry}
		opened := time.Now()
		err := read(place, resp.Body, answered)
		resp.Body.Close()
		if place.count > 0 {
			failures = 0
		}
		if !c.waits(x.m) {
			return
		}
		loss := relay.Loss{How: "closed the stream without an answer", Class: verdict.Network}
		if err != nil {
			loss.How = message.ConnectionCut(err)
		}
		if place.lastID == "" || x.ctx.Err() != nil {
			c.lose(x.m, loss)
			return
		}
		var rest time.Duration
		if resumed { // the first time it may be an accident
			rest = restOf(opened)
		}
		resumed = true
		if resp = x.resume(place, rest, &failures); resp == nil {
			if c.waits(x.m) {
				c.lose(x.m, loss)
			}
			return
		}
	}
}

// maxResumes is how often in a row a stream is resumed in vain.
const maxResumes = 4

// restOf is how long a stream that has ended is left alone before it is asked for again, if the server does not say how long: one that ends as soon as it
// is opened is opened every second or two, as by the official SDK, and not as fast as the network allows. One that was open for longer is not left alone.
func restOf(opened time.Time) time.Duration {
	return max(0, time.Second+rand.N(time.Second)-time.Since(opened))
}

// resume asks for the rest of a stream, after a wait for as long as the server says, or rest if it does not; nil if it cannot be had.
func (x *exchange) resume(place *events, rest time.Duration, failures *int) *http.Response {
	c := x.conn
	for *failures < maxResumes {
		wait := backoff(*failures)
		switch {
		case place.retry > 0:
			wait = place.retry
		case *failures == 0:
			wait = rest
		}
		*failures++
		if !c.hasTime(x.m, wait) || !sleep(x.ctx, wait) {
			return nil
		}
		resp, loss := c.reach(x.ctx, x.m, func() (*http.Response, bool, error) { return c.get(x.ctx, place.lastID) })
		switch {
		case loss != nil && loss.Kind == relay.Cut && x.ctx.Err() == nil:
			continue
		case loss != nil:
			return nil
		case resp.StatusCode == http.StatusOK && mediaType(resp) == "text/event-stream":
			return resp
		}
		c.isForgotten(resp)
		discard(resp)
		if resp.StatusCode < 500 && resp.StatusCode != http.StatusConflict {
			return nil
		}
	}
	return nil
}

// get asks for a stream. sent is always false: a stream can be asked for again.
func (c *conn) get(ctx context.Context, lastID string) (*http.Response, bool, error) {
	h := c.header(mcp.Outgoing{})
	h.Set("Accept", "text/event-stream")
	if lastID != "" {
		h.Set("Last-Event-ID", lastID)
	}
	resp, err := c.send(ctx, http.MethodGet, nil, h, nil)
	return resp, false, err
}

// isForgotten takes a response to a GET for what it says of the session.
func (c *conn) isForgotten(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusNotFound:
	case http.StatusBadRequest:
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxExcerpt))
		if !namesSession(body) {
			return false
		}
	default:
		return false
	}
	if !c.named() {
		return false
	}
	c.forgotten()
	return true
}

// listen opens the stream on which the server speaks unasked, if it has one.
func (c *conn) listen() {
	c.mu.Lock()
	again := c.listening || c.endpoint != nil || c.version >= statelessVersion
	c.listening = true
	c.mu.Unlock()
	if !again {
		c.spawn(c.listenOn)
	}
}

func (c *conn) listenOn() {
	ctx := c.listenCtx
	place := &events{}
	for failures := 0; ctx.Err() == nil; failures++ {
		wait := backoff(failures)
		resp, _, err := c.get(ctx, place.lastID)
		switch {
		case err != nil:
			if _, foreign := errors.AsType[*foreignError](err); foreign || errors.Is(err, errRedirects) {
				return
			}
		case resp.StatusCode == http.StatusOK && mediaType(resp) == "text/event-stream":
			place = &events{inbox: c.peer.Inbox(), lastID: place.lastID, id: place.lastID, retry: place.retry}
			opened := time.Now()
			read(place, resp.Body, nil)
			resp.Body.Close()
			if place.count > 0 {
				failures = 0
			}
			wait = max(wait, cmp.Or(place.retry, restOf(opened)))
		default:
			forgotten := failures > 0 && c.isForgotten(resp) // some servers answer 404 when they have no stream to listen to
			asked := hintOf(resp)
			discard(resp)
			busy := resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusConflict
			if forgotten || !busy || failures > 10 {
				return // 405 says that the server has no stream to listen to, and so do other statuses of some servers
			}
			wait = max(wait, asked)
		}
		if !sleep(ctx, wait) {
			return
		}
	}
}
