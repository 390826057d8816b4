package remote

import (
	"fmt"
	"io"
	"net/http"
	"strings"

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
		c.session.begin(resp.Header.Get("Mcp-Session-Id"))
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
	case resp.StatusCode == http.StatusAccepted || resp.StatusCode == http.StatusNoContent, c.session.speaksLegacy():
		c.await(x.m) // it is answered on another stream
	case kind == "text/event-stream":
		x.follow(resp)
	case kind == "application/json" || kind == "":
		x.readJSON(resp.Body)
	default:
		c.lose(x.m, relay.Loss{How: message.WrongType(kind), Class: verdict.BadOutput, Answered: true})
	}
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

// refused takes a response that is no success.
func (x *exchange) refused(resp *http.Response) {
	c := x.conn
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxExcerpt))
	discard(resp)
	answer, addressed := errorIn(body, x.m.ID)
	code, known := resp.StatusCode, c.session.named() && x.m.Method != "initialize"
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
	resp, loss := x.send(x.ctx)
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
