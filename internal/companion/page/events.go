package page

import (
	"fmt"
	"net/http"
	"time"
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
