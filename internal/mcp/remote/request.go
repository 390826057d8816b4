package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"

	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/message"
)

// client sends the requests of a session.
type client struct {
	server  *Server
	session *session
	peer    mcp.Peer
}

// maxRedirects is how many are followed; one is what servers use, for a slash at the end of the path.
const maxRedirects = 5

// header is what a message is sent with.
func (c *client) header(m mcp.Outgoing) http.Header {
	h := c.server.headers.Clone()
	h.Set("User-Agent", "belay")
	c.session.headers(h, m)
	return h
}

// post sends a message once. began is called when the server has begun to get it.
func (c *client) post(ctx context.Context, m mcp.Outgoing, began func()) (*http.Response, error) {
	h := c.header(m)
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	return c.send(ctx, http.MethodPost, m.Body, h, began)
}

// get asks for a stream. sent is always false: a stream can be asked for again.
func (c *client) get(ctx context.Context, lastID string) (*http.Response, bool, error) {
	h := c.header(mcp.Outgoing{})
	h.Set("Accept", "text/event-stream")
	if lastID != "" {
		h.Set("Last-Event-ID", lastID)
	}
	resp, err := c.send(ctx, http.MethodGet, nil, h, nil)
	return resp, false, err
}

// foreignError is a redirect to another origin.
type foreignError struct{ origin string }

func (e *foreignError) Error() string { return message.ForeignEndpoint(e.origin) }

// errRedirects is one of redirects that lead nowhere.
var errRedirects = errors.New("redirect loop")

// send sends a request, to the endpoint if it is a message and the server has named one. It follows redirects to the same
// origin, with the same method: those of net/http make a GET of a POST. sent, if not nil, is called when the server has begun to
// get the request.
func (c *client) send(ctx context.Context, method string, body []byte, header http.Header, sent func()) (*http.Response, error) {
	if sent != nil {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: sent})
	}
	at, isEndpoint := c.session.target(method)
	for range maxRedirects {
		req := (&http.Request{Method: method, URL: at, Host: at.Host, Header: header, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}).WithContext(ctx)
		if body != nil {
			req.ContentLength = int64(len(body))
			req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
			req.Body, _ = req.GetBody()
		}
		resp, err := c.server.client.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		to := redirected(resp)
		switch {
		case to == nil:
			return resp, nil
		case !sameOrigin(to, at):
			discard(resp)
			return nil, &foreignError{origin(to)}
		}
		discard(resp)
		at = to
		if !isEndpoint {
			c.session.moved(to)
		}
	}
	return nil, errRedirects
}

// redirected is where a response leads; nil if it is none that does.
func redirected(resp *http.Response) *url.URL {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		if to, err := resp.Location(); err == nil {
			return to
		}
	}
	return nil
}
