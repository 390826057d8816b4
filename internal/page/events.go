package page

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/belay-run/belay/internal/look"
	"github.com/belay-run/belay/internal/message"
)

const (
	// pulse is how often a stream has something to read, so that both ends notice when the other is gone.
	pulse = 20 * time.Second
	// slow is how long a page may take to read an event.
	slow = 10 * time.Second
)

// event is one that is told to pages.
type event struct {
	name string
	data []byte // one line of JSON
}

// events is a stream of server-sent events to one page.
type events struct {
	w     http.ResponseWriter
	out   *http.ResponseController
	pulse *time.Ticker
}

// newEvents begins a stream, which must be closed.
func newEvents(w http.ResponseWriter) *events {
	w.Header().Set("Content-Type", "text/event-stream")
	return &events{w, http.NewResponseController(w), time.NewTicker(pulse)}
}

func (s *events) close() { s.pulse.Stop() }

// send reports whether the page has taken an event in time.
func (s *events) send(e event) bool {
	s.out.SetWriteDeadline(time.Now().Add(slow))
	_, err := fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", e.name, e.data)
	return err == nil && s.out.Flush() == nil
}

// follow sends what comes from a channel until that is closed, and then reports true. It reports false if the page has left, or is too slow.
func follow[T any](s *events, gone <-chan struct{}, from <-chan T, encode func(T) event) bool {
	for {
		select {
		case <-gone:
			return false
		case v, ok := <-from:
			if !ok {
				return true
			}
			if !s.send(encode(v)) {
				return false
			}
		case <-s.pulse.C:
			if !s.send(event{"pulse", []byte("{}")}) {
				return false
			}
		}
	}
}

// maxTails bounds how many pages look at the output of runs at the same time.
const maxTails = 32

// tail streams what a run prints, its last lines first, until it ends or the page leaves.
func (s *Server) tail(w http.ResponseWriter, r *http.Request) {
	select {
	case s.tails <- struct{}{}:
		defer func() { <-s.tails }()
	default:
		refuse(w, http.StatusServiceUnavailable, "too many pages show the output of a run. Close one of them")
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	lines, err := s.Source.Tail(ctx, r.URL.Query().Get("id"))
	if err != nil {
		refuse(w, http.StatusNotFound, message.PageNotFound())
		return
	}
	stream := newEvents(w)
	defer stream.close()
	if !stream.send(event{"hello", []byte("{}")}) {
		return
	}
	line := func(l look.Line) event {
		data, _ := json.Marshal(l) // it was read as JSON
		return event{"line", data}
	}
	if follow(stream, ctx.Done(), lines, line) {
		stream.send(event{"end", []byte("{}")})
	}
}
