package remote

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/message"
)

// session is what the server and we have agreed on: where it is, what it calls the session, and which version is spoken.
type session struct {
	mu       sync.Mutex
	url      *url.URL // where the server is: redirects are followed once
	name     string   // what the server calls the session; empty if it has no name
	version  string   // of the protocol
	endpoint *url.URL // where a server of 2024-11-05 wants its messages
}

// begin notes what the server calls the session.
func (s *session) begin(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name = name
}

// named says whether the server has given the session a name, which it then can forget.
func (s *session) named() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.name != ""
}

// statelessVersion is the first whose requests have their method and name in headers too.
const statelessVersion = "2026-07-28"

// mayListen says whether the server may have a stream on which it speaks unasked.
func (s *session) mayListen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.endpoint == nil && s.version < statelessVersion
}

// speaksLegacy says whether answers come on the one stream of HTTP+SSE.
func (s *session) speaksLegacy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.endpoint != nil
}

// setEndpoint takes the address that messages are to be sent to. It has to be on the same server.
func (s *session) setEndpoint(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	to, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return message.Error(message.NoEndpoint())
	}
	to = s.url.ResolveReference(to)
	if !sameOrigin(to, s.url) {
		return message.Error(message.ForeignEndpoint(origin(to)))
	}
	s.endpoint = to
	return nil
}

// target is where a request goes: to the endpoint if it is a message and the server has named one.
func (s *session) target(method string) (at *url.URL, isEndpoint bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if method == http.MethodPost && s.endpoint != nil {
		return s.endpoint, true
	}
	return s.url, false
}

// moved notes that the server is elsewhere.
func (s *session) moved(to *url.URL) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.url = to
}

// headers adds what a message is sent with.
func (s *session) headers(h http.Header, m mcp.Outgoing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.Version = cmp.Or(m.Version, s.version)
	if m.Method != "initialize" {
		if s.name != "" {
			h.Set("Mcp-Session-Id", s.name)
		}
		if m.Version != "" {
			s.version = m.Version
			h.Set("Mcp-Protocol-Version", m.Version)
		}
	}
	if m.Modern && m.Version >= statelessVersion {
		h.Set("Mcp-Method", m.Method)
		if m.Name != "" {
			h.Set("Mcp-Name", headerText(m.Name))
		}
	}
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
