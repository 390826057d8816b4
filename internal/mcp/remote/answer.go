package remote

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/mcp/relay"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/verdict"
)

// receive takes the response to a message.
func (x *exchange) receive(resp *http.Response) {
	c := x.conn
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		x.refused(resp)
		return
	}
	c.server.worked.Store(true)
	if x.m.Method == "initialize" {
		c.mu.Lock()
		c.session = resp.Header.Get("Mcp-Session-Id")
		c.mu.Unlock()
	}
	if x.m.ID == "" {
		discard(resp)
		if x.m.Method == "notifications/initialized" {
			c.listen()
		}
		return
	}
	defer resp.Body.Close()
	switch kind := mediaType(resp); {
	case resp.StatusCode == http.StatusAccepted || resp.StatusCode == http.StatusNoContent, c.speaksLegacy():
		c.await(x.m) // it is answered on another stream
	case kind == "text/event-stream":
		x.follow(resp)
	case kind == "application/json" || kind == "":
		x.readJSON(resp.Body)
	default:
		c.lose(x.m, relay.Loss{How: message.WrongType(kind), Class: verdict.BadOutput, Answered: true})
	}
}

func mediaType(resp *http.Response) string {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return kind
}

// readJSON takes an answer that is all of the response.
func (x *exchange) readJSON(body io.Reader) {
	if err := copyJSON(x.conn.peer.Inbox(), body); err != nil {
		x.conn.lose(x.m, relay.Loss{How: message.ConnectionCut(err), Class: verdict.Network})
		return
	}
	if x.conn.waits(x.m) {
		x.conn.lose(x.m, relay.Loss{How: "sent something that does not answer the request", Class: verdict.BadOutput, Answered: true})
	}
}

// copyJSON writes a JSON text on one line: a line end in it can only be a space.
func copyJSON(to io.Writer, from io.Reader) error {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for first := true; ; first = false {
		n, err := io.ReadFull(from, (*buf)[:len(*buf)-1])
		b := (*buf)[:n]
		if first {
			b = bytes.TrimPrefix(b, []byte(byteOrderMark))
		}
		for i, ch := range b {
			if ch == '\n' || ch == '\r' {
				b[i] = ' '
			}
		}
		switch err {
		case nil:
			to.Write(b)
		case io.EOF, io.ErrUnexpectedEOF: // of ReadFull; net/http's own means that the body was cut
			if cut(from) {
				return io.ErrUnexpectedEOF
			}
			to.Write(append(b, '\n'))
			return nil
		default:
			return err
		}
	}
}

// cut says whether a body that has ended was not to end there. ReadFull cannot tell.
func cut(body io.Reader) bool {
	_, err := body.Read(make([]byte, 1))
	return err != nil && err != io.EOF
}

// maxExcerpt is how much is read of what a server says with a bad status.
const maxExcerpt = 16 << 10

// refused takes a response that is no success.
func (x *exchange) refused(resp *http.Response) {
	c := x.conn
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxExcerpt))
	discard(resp)
	answer, addressed := errorIn(body, x.m.ID)
	code, known := resp.StatusCode, c.named() && x.m.Method != "initialize"
	switch {
	case addressed:
		c.peer.Inbox().Write(answer)
	case known && (code == http.StatusNotFound || code == http.StatusBadRequest && namesSession(body)):
		c.forgotten()
		c.lose(x.m, relay.Loss{Kind: relay.Undone, How: message.DeathForgot(), Answered: true})
	case code == http.StatusUnauthorized:
		text := message.Sentences(fmt.Sprintf("the MCP server %q asks for a login (401), which only the client itself can do", c.server.opt.Name), "connect the client to it without belay, or give belay a token: belay mcp --bearer-env VARIABLE")
		if names := c.server.variables(); len(names) > 0 {
			text = fmt.Sprintf("the MCP server %q answered %s to the credentials from %s", c.server.opt.Name, statusText(resp), strings.Join(names, ", "))
		}
		c.lose(x.m, relay.Loss{Kind: relay.Refused, How: message.HTTPStatus(statusText(resp), ""), Text: text, Class: verdict.Auth, Answered: true})
	case answer == nil && c.mayBeLegacy(code) && c.becomeLegacy():
		x.again()
	case answer != nil && x.m.ID != "":
		c.peer.Inbox().Write(answer)
	default:
		c.lose(x.m, c.badStatus(resp, body))
	}
}

// again sends the message once more, to where the server wants it.
func (x *exchange) again() {
	resp, loss := x.conn.reach(x.ctx, x.m, func() (*http.Response, bool, error) { return x.post(x.ctx) })
	if loss != nil {
		x.conn.lose(x.m, *loss)
		return
	}
	x.receive(resp)
}

// badStatus is the loss of a request that was answered with a status that has no meaning of its own here.
func (c *conn) badStatus(resp *http.Response, body []byte) relay.Loss {
	text := ""
	switch kind := mediaType(resp); kind {
	case "text/plain", "application/json", "":
		text = c.server.withoutSecrets(strings.ToValidUTF8(string(body[:min(len(body), 300)]), ""))
	}
	l := relay.Loss{Kind: relay.Refused, How: message.HTTPStatus(statusText(resp), text), Class: verdict.InvalidRequest, Answered: true}
	switch code := resp.StatusCode; {
	case code >= 500: // it may have been carried out
		l.Kind, l.Class = relay.Cut, verdict.ServerError
	case code == http.StatusForbidden:
		l.Class = verdict.Auth
	case code == http.StatusNotFound:
		l.Class = verdict.NotFound
	case code == http.StatusRequestEntityTooLarge:
		l.Class = verdict.TooLarge
	}
	return l
}

// errorIn finds a JSON-RPC error in a response with a bad status, and makes an answer of it for the request. addressed says that
// the server has named that request; else the error may be of the session.
func errorIn(body []byte, id string) (line []byte, addressed bool) {
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   json.RawMessage `json:"error"`
	}
	if id == "" || json.Unmarshal(body, &m) != nil || m.Version != "2.0" || len(m.Error) == 0 || m.Error[0] != '{' {
		return nil, false
	}
	var b bytes.Buffer
	b.WriteString(`{"jsonrpc":"2.0","id":` + id + `,"error":`)
	if json.Compact(&b, m.Error) != nil {
		return nil, false
	}
	b.WriteString("}\n")
	return b.Bytes(), string(m.ID) == id
}

// namesSession says whether a server complains of the session: there are some that do not answer 404.
func namesSession(body []byte) bool {
	text := bytes.ToLower(body)
	return bytes.Contains(text, []byte("session")) || bytes.Contains(text, []byte("not initialized"))
}

func statusText(resp *http.Response) string {
	if text := http.StatusText(resp.StatusCode); text != "" {
		return strconv.Itoa(resp.StatusCode) + " " + text
	}
	return strconv.Itoa(resp.StatusCode)
}

// hintOf is how long the server asks to wait: by Retry-After, or by one of the other headers that there are for it.
func hintOf(resp *http.Response) time.Duration {
	now := time.Now()
	hint, ok := verdict.ParseRetryAfter(resp.Header.Get("Retry-After"), now)
	if !ok {
		var b strings.Builder
		resp.Header.Write(&b)
		hint, _ = verdict.ParseHint(b.String(), now)
	}
	return max(0, hint.Wait(now))
}
