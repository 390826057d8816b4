package page

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/belay-run/belay/internal/look"
	"github.com/belay-run/belay/internal/message"
)

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
