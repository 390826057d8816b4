package page

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/page/view"
)

// views are what can be asked for, by GET.
var views = map[string]func(s *view.Source, ctx context.Context, q url.Values) (any, error){
	"/api/now":           func(s *view.Source, _ context.Context, _ url.Values) (any, error) { return s.Now(), nil },
	"/api/choices":       viewOf((*view.Source).Choices),
	"/api/runs":          viewOf((*view.Source).Runs),
	"/api/run":           viewOf((*view.Source).Story),
	"/api/sessions":      viewOf((*view.Source).Sessions),
	"/api/session/parts": viewOf((*view.Source).Transcript),
	"/api/alerts":        viewOf((*view.Source).Alerts),
	"/api/audit":         viewOf((*view.Source).Audit),
	"/api/batches":       viewOf((*view.Source).Batches),
	"/api/batch":         viewOf((*view.Source).Tasks),
	"/api/spend":         viewOf((*view.Source).Spend),
	"/api/health":        viewOf((*view.Source).Health),
}

// viewOf is a question whose answer is any of the views.
func viewOf[V any](ask func(*view.Source, context.Context, url.Values) (V, error)) func(*view.Source, context.Context, url.Values) (any, error) {
	return func(s *view.Source, ctx context.Context, q url.Values) (any, error) { return ask(s, ctx, q) }
}

// request is a change that is asked for, by POST.
type request struct {
	ID      string  `json:"id"`
	Results string  `json:"results"`
	Key     string  `json:"key"`
	Minutes float64 `json:"minutes"`
	Reason  string  `json:"reason"`
}

// changes are what can be done, by POST. They return what to say of it.
var changes = map[string]func(s *view.Source, r request) (string, error){
	"/api/cancel":      cancel,
	"/api/batch/retry": func(s *view.Source, r request) (string, error) { return s.RetryBatch(r.Results) },
	"/api/gate/reset":  func(s *view.Source, r request) (string, error) { return s.ResetGate(r.Key) },
	"/api/gate/hold": func(s *view.Source, r request) (string, error) {
		return s.HoldGate(r.Key, time.Duration(r.Minutes*float64(time.Minute)), r.Reason)
	},
}

func cancel(s *view.Source, r request) (string, error) {
	rec, err := s.Cancel(r.ID, "belay ui")
	switch {
	case errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH):
		return message.RunEnded(), nil
	case err != nil:
		return "", message.Error(message.CannotCancel(rec.Owner.PID, err), err)
	}
	return message.Cancelled(rec.ID[max(0, len(rec.ID)-8):], rec.Command), nil
}

// api answers what begins with /api/.
func (s *Server) api(w http.ResponseWriter, r *http.Request) {
	if r.URL.RawPath != "" {
		refuse(w, http.StatusNotFound, message.PageNotFound())
		return
	}
	if r.URL.Path == "/api/session" {
		s.session(w, r)
		return
	}
	session, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || !s.access.knows(session) {
		refuse(w, http.StatusUnauthorized, "this page is closed. To open it again: belay ui")
		return
	}
	s.touch()
	read, isView := views[r.URL.Path]
	change, isChange := changes[r.URL.Path]
	stream, tail := r.URL.Path == "/api/changes", r.URL.Path == "/api/tail"
	want := http.MethodGet
	if isChange {
		want = http.MethodPost
	}
	switch {
	case !isView && !isChange && !stream && !tail:
		refuse(w, http.StatusNotFound, message.PageNotFound())
	case r.Method != want:
		w.Header().Set("Allow", want)
		refuse(w, http.StatusMethodNotAllowed, message.PageMethod(want))
	case tail:
		s.tail(w, r)
	case stream:
		s.feed.serve(w, r, hello{Version: s.feed.current(), ReadOnly: s.ReadOnly})
	case isView:
		s.view(w, r, read)
	case s.ReadOnly:
		refuse(w, http.StatusForbidden, "nothing can be changed here: belay ui was started with --read-only")
	default:
		s.change(w, r, change)
	}
}

// session makes a session of a ticket.
func (s *Server) session(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed, message.PagePostOnly())
		return
	}
	var asked struct {
		Token string `json:"token"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		refuse(w, http.StatusBadRequest, message.PageUnclear())
		return
	}
	session, ok := s.access.enter(asked.Token)
	if !ok {
		refuse(w, http.StatusForbidden, message.PageTicket())
		return
	}
	answer(w, map[string]string{"session": session})
}

// view answers with a view, which pages that ask for the same share.
func (s *Server) view(w http.ResponseWriter, r *http.Request, read func(*view.Source, context.Context, url.Values) (any, error)) {
	q := r.URL.Query()
	data, err := s.cache.get(r.Context(), r.URL.Path+"?"+q.Encode(), s.feed.current(), func(ctx context.Context) (any, error) { return read(s.Source, ctx, q) })
	var wrong *view.Unclear
	switch {
	case errors.As(err, &wrong):
		refuse(w, http.StatusBadRequest, err.Error())
	case errors.Is(err, os.ErrNotExist):
		refuse(w, http.StatusNotFound, message.PageNotFound())
	case err != nil:
		refuse(w, http.StatusInternalServerError, err.Error())
	default:
		sendJSON(w, data)
	}
}

// change does what was asked for, and says so.
func (s *Server) change(w http.ResponseWriter, r *http.Request, change func(*view.Source, request) (string, error)) {
	var asked request
	if r.Header.Get("Content-Type") != "application/json" || json.NewDecoder(r.Body).Decode(&asked) != nil {
		refuse(w, http.StatusBadRequest, message.PageUnclear())
		return
	}
	said, err := change(s.Source, asked)
	if err != nil {
		refuse(w, http.StatusConflict, err.Error())
		return
	}
	s.feed.poke()
	answer(w, map[string]string{"message": said})
}
