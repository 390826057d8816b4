package page

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/belay-run/belay/internal/message"
)

// maxTails bounds how many pages look at the output of runs at the same time.
const maxTails = 32

// tail streams what a run prints, from now on, until it ends or the page leaves.
func (s *Server) tail(w http.ResponseWriter, r *http.Request) {
	select {
	case s.tails <- struct{}{}:
		defer func() { <-s.tails }()
	default:
		refuse(w, http.StatusServiceUnavailable, message.PageManyTails())
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	lines, err := s.Source.Tail(ctx, r.URL.Query().Get("id"))
	if err != nil {
		refuse(w, http.StatusNotFound, message.PageNotFound())
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	send := func(name string, data []byte) bool {
		out.SetWriteDeadline(time.Now().Add(slow))
		_, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data)
		return err == nil && out.Flush() == nil
	}
	if !send("hello", []byte("{}")) {
		return
	}
	alive := time.NewTicker(pulse)
	defer alive.Stop()
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				send("end", []byte("{}"))
				return
			}
			if data, err := json.Marshal(line); err != nil || !send("line", data) {
				return
			}
		case <-alive.C:
			if !send("pulse", []byte("{}")) {
				return
			}
		}
	}
}
