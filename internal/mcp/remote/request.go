package remote

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"

	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/message"
)

// maxRedirects is how many are followed; one is what servers use, for a slash at the end of the path.
const maxRedirects = 5

// statelessVersion is the first whose requests have their method and name in headers too.
const statelessVersion = "2026-07-28"

// header is what a message is sent with.
func (c *conn) header(m mcp.Outgoing) http.Header {
	h := c.server.headers.Clone()
	h.Set("User-Agent", "belay")
	c.mu.Lock()
	defer c.mu.Unlock()
	m.Version = cmp.Or(m.Version, c.version)
	if m.Method != "initialize" {
		if c.session != "" {
			h.Set("Mcp-Session-Id", c.session)
		}
		if m.Version != "" {
			c.version = m.Version
			h.Set("Mcp-Protocol-Version", m.Version)
		}
	}
	if m.Modern && m.Version >= statelessVersion {
		h.Set("Mcp-Method", m.Method)
		if m.Name != "" {
			h.Set("Mcp-Name", headerText(m.Name))
		}
	}
	return h
}

// headerText is a text as the protocol has it in a header: what a header cannot carry is encoded.
func headerText(text string) string {
	for i := range len(text) {
		if b := text[i]; b < ' ' || b > '~' || b == ' ' && (i == 0 || i == len(text)-1) {
			return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="
		}
	}
	return text
}

// foreignError is a redirect to another origin.
type foreignError struct{ origin string }

func (e *foreignError) Error() string { return message.ForeignEndpoint(e.origin) }

// errRedirects is one of redirects that lead nowhere.
var errRedirects = errors.New("redirect loop")

// send sends a request, to the endpoint if it is a message and the server has named one. It follows redirects to the same
// origin, with the same method: those of net/http make a GET of a POST. sent, if not nil, is called when the server has begun to
// get the request.
func (c *conn) send(ctx context.Context, method string, body []byte, header http.Header, sent func()) (*http.Response, error) {
	if sent != nil {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: sent})
	}
	c.mu.Lock()
	at, isEndpoint := c.url, false
	if method == http.MethodPost && c.endpoint != nil {
		at, isEndpoint = c.endpoint, true
	}
	c.mu.Unlock()
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
			c.mu.Lock()
			c.url = to
			c.mu.Unlock()
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

// discard leaves a response, and its connection to the next request if little is left of it.
func discard(resp *http.Response) {
	io.CopyN(io.Discard, resp.Body, 64<<10)
	resp.Body.Close()
}
