package remote

import (
	"net/http"
	"time"

	"github.com/belay-run/belay/internal/mcp/relay"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/verdict"
)

// afterAnswer is how long a stream may stay open that has had its answer.
const afterAnswer = 5 * time.Second

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
