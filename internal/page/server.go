package page

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/page/view"
)

//go:embed assets
var assets embed.FS

const (
	// maxBody bounds what is read of a request, and bodyWithin how long that may take.
	maxBody    = 64 << 10
	bodyWithin = 10 * time.Second
)

// types are the types of the page's files. Package mime would ask the system, where any program may have registered others, and with nosniff a browser
// then runs no script of the page.
var types = map[string]string{".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}

// Options say what is served, and to whom.
type Options struct {
	Source *view.Source
	// ReadOnly refuses all changes.
	ReadOnly bool
	// Hosts are names, beside those of loopback, by which the server may be asked.
	Hosts []string
	// Metrics answers /metrics, which has a token of its own; nil if it is not served.
	Metrics http.Handler
	// Idle is how long the server goes on with no page open; 0 means for ever.
	Idle time.Duration
}

// Server serves the page.
type Server struct {
	Options

	access *access
	feed   *feed
	cache  cache
	tails  chan struct{} // one for each page that looks at the output of a run
	seen   atomic.Int64  // when it was last asked, in nanoseconds
}

// New returns a server that is ready to be asked.
func New(o Options) *Server {
	s := &Server{Options: o, access: &access{tickets: map[digest]time.Time{}, sessions: map[digest]bool{}}, feed: newFeed(o.Source), tails: make(chan struct{}, maxTails)}
	s.touch()
	return s
}

func (s *Server) touch() { s.seen.Store(time.Now().UnixNano()) }

// Ticket makes a token with which the page can be entered once, within a minute.
func (s *Server) Ticket() string { return s.access.ticket() }

// Serve answers until the context ends, or for Idle no page has been open. It closes the listener.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx }, ErrorLog: log.New(io.Discard, "", 0)}
	go s.untilIdle(ctx, cancel)
	context.AfterFunc(ctx, func() { h.Close() })
	defer s.feed.stop()
	if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// untilIdle ends the server when no page has been open for a while.
func (s *Server) untilIdle(ctx context.Context, end func()) {
	if s.Idle <= 0 {
		return
	}
	for {
		left := s.Idle - time.Since(time.Unix(0, s.seen.Load()))
		if s.feed.open() {
			s.touch()
			left = s.Idle
		}
		if left <= 0 {
			end()
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(left):
		}
	}
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	for _, pair := range [][2]string{{"Content-Security-Policy", policy}, {"X-Content-Type-Options", "nosniff"}, {"Referrer-Policy", "no-referrer"},
		{"Cross-Origin-Opener-Policy", "same-origin"}, {"Cross-Origin-Resource-Policy", "same-origin"}, {"X-Frame-Options", "DENY"}, {"Cache-Control", "no-store"}} {
		h.Set(pair[0], pair[1])
	}
	if err := takeBody(w, r); err != nil {
		code := http.StatusBadRequest
		if errors.Is(err, os.ErrDeadlineExceeded) {
			code = http.StatusRequestTimeout
		}
		refuse(w, code, message.PageUnclear())
		return
	}
	if !s.ours(r.Host) {
		refuse(w, http.StatusForbidden, "this address is not one that belay ui answers to")
		return
	}
	entry := r.URL.Path == "/enter"
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host && !(entry && origin == "null") { // a file has the origin null
		refuse(w, http.StatusForbidden, message.PageForeignOrigin())
		return
	}
	if site := r.Header.Get("Sec-Fetch-Site"); strings.HasPrefix(r.URL.Path, "/api/") && site != "" && site != "same-origin" && site != "none" {
		refuse(w, http.StatusForbidden, message.PageForeignOrigin())
		return
	}
	switch {
	case entry:
		s.enter(w, r)
	case r.URL.Path == "/metrics" && s.Metrics != nil:
		s.touch() // a page that is asked for its metrics is in use
		s.Metrics.ServeHTTP(w, r)
	case strings.HasPrefix(r.URL.Path, "/api/"):
		s.api(w, r)
	default:
		asset(w, r)
	}
}

// takeBody reads the body of a request, in time. Anyone on the machine can begin one, and one that is refused is read too before the connection is
// used again: without a deadline it would be open for ever. What has no body has no deadline, since a stream of events may be open for days.
func takeBody(w http.ResponseWriter, r *http.Request) error {
	if r.ContentLength == 0 {
		return nil
	}
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Now().Add(bodyWithin))
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(data))
	control.SetReadDeadline(time.Time{})
	return nil
}

// ours reports whether a request's Host is a name of this machine. The port is not checked: through ssh -L it is another one.
func (s *Server) ours(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	if addr, err := netip.ParseAddr(name); err == nil && addr.IsLoopback() || name == "localhost" {
		return true
	}
	return slices.ContainsFunc(s.Hosts, func(known string) bool { return strings.EqualFold(name, known) })
}

// refuse answers with a text.
func refuse(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	io.WriteString(w, text+"\n")
}

// enter takes the ticket that the file has posted which the browser was opened with, and leads to the page with another one in the fragment, which
// is neither sent nor kept.
func (s *Server) enter(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed, message.PagePostOnly())
		return
	}
	if !s.access.use(r.PostFormValue("token")) {
		refuse(w, http.StatusForbidden, message.PageTicket())
		return
	}
	w.Header().Set("Location", "/#token="+s.access.ticket())
	w.WriteHeader(http.StatusSeeOther)
}

// asset answers with a file of the page.
func asset(w http.ResponseWriter, r *http.Request) {
	name := cmp.Or(strings.TrimPrefix(r.URL.Path, "/"), "index.html")
	data, err := read(name)
	if err != nil || strings.Contains(name, "/") || r.URL.RawPath != "" {
		refuse(w, http.StatusNotFound, message.PageNotFound())
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, message.PageMethod("GET"))
		return
	}
	w.Header().Set("Content-Type", types[path.Ext(name)])
	w.Write(data)
}

// answer writes a value as JSON.
func answer(w http.ResponseWriter, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	sendJSON(w, data)
}

func sendJSON(w http.ResponseWriter, data []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Write(data)
}

// policy lets the page load its own files and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
