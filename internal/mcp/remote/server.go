package remote

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/redact"
)

// Options say where a server is and what it is sent.
type Options struct {
	// Name is what the server is called in messages.
	Name string
	URL  *url.URL
	// Legacy says that the server is known to speak HTTP+SSE. Else that is found out.
	Legacy  bool
	Headers []Header
	// Secrets are taken out of what a server says in its errors, besides the values of the headers.
	Secrets *redact.Known
	// RoundTripper takes the place of net/http's own, for tests.
	RoundTripper http.RoundTripper
}

// Header is one whose value is in an environment variable.
type Header struct {
	Name     string
	Variable string
	// Prefix stands before the value, as Bearer does before a token.
	Prefix string
}

// Server is one that is spoken to over HTTP. Make one with [New].
type Server struct {
	opt     Options
	headers http.Header
	values  []string // of the headers, which are secret
	client  http.RoundTripper

	once   sync.Once
	legacy atomic.Bool // it speaks HTTP+SSE
	worked atomic.Bool // it has taken a message
}

// New makes a server. lookup finds the variables of the headers, as [os.LookupEnv] does.
func New(opt Options, lookup func(string) (string, bool)) (*Server, error) {
	s := &Server{opt: opt, headers: http.Header{}, client: opt.RoundTripper}
	for _, h := range opt.Headers {
		value, ok := lookup(h.Variable)
		switch {
		case !ok || strings.TrimSpace(value) == "":
			return nil, message.Error(fmt.Sprintf("the environment variable %s is not set", h.Variable))
		case !sendable(value):
			return nil, message.Error(fmt.Sprintf("the environment variable %s has characters that a header cannot have", h.Variable))
		}
		s.headers.Set(h.Name, h.Prefix+value)
		s.values = append(s.values, value)
	}
	if s.client == nil {
		s.client = transport()
	}
	s.legacy.Store(opt.Legacy)
	return s, nil
}

// sendable says whether a text can be the value of a header.
func sendable(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// transport is the transport of net/http, with its proxies and certificates, for many requests to one server.
func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 64
	t.ReadBufferSize, t.WriteBufferSize = 32<<10, 32<<10 // results are larger than pages
	// A connection of HTTP/2 that has died without a word is found out by this; one of HTTP/1.1 by the system.
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second}
	return t
}

// closeIdle closes the connections of HTTP that are not in use.
func (s *Server) closeIdle() {
	if t, ok := s.client.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

// variables are the names of those that the headers come from.
func (s *Server) variables() (names []string) {
	for _, h := range s.opt.Headers {
		names = append(names, h.Variable)
	}
	return names
}

// withoutSecrets is a text of the server that can be shown.
func (s *Server) withoutSecrets(text string) string {
	for _, v := range s.values {
		text = strings.ReplaceAll(text, v, "[redacted]")
	}
	return s.opt.Secrets.Text(text)
}

// origin is what identifies a server: no path and no query, which may have a token in it.
func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch p := u.Port(); {
	case p != "":
		return p
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
