package remote

import (
	"cmp"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"time"
)

// listen opens the stream on which the server speaks unasked, if it has one.
func (c *conn) listen() {
	c.mu.Lock()
	again := c.listening
	c.listening = true
	c.mu.Unlock()
	if !again && c.session.mayListen() {
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

// restOf is how long a stream that has ended is left alone before it is asked for again, if the server does not say how long: one that ends as soon as it
// is opened is opened every second or two, as by the official SDK, and not as fast as the network allows. One that was open for longer is not left alone.
func restOf(opened time.Time) time.Duration {
	return max(0, time.Second+rand.N(time.Second)-time.Since(opened))
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
	if !c.session.named() {
		return false
	}
	c.forgotten()
	return true
}
