package rehearse

import (
	"cmp"
	"errors"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

var garbage = []byte("%% this is not an answer %%\n\n{\"type\": \"mess")

// send sends an answer, with what the step does to it.
func (a *API) send(w http.ResponseWriter, r *http.Request, rec *Request, rep reply, s *Step) {
	setHeaders(w.Header(), rep.header, s)
	chunks, end := rep.chunks, CutNone
	if s.Cut != CutNone && rep.cuts != nil {
		end = s.Cut
		chunks = chunks[:rep.cuts[cmp.Or(s.At, InText)]]
	}
	if end == CutNone || end == CutDrop || end == CutHang {
		// What is not a stream has a length, so that a client knows what it did not get.
		if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
			size := 0
			for _, c := range rep.chunks {
				size += len(c)
			}
			w.Header().Set("Content-Length", strconv.Itoa(size))
		}
	}
	if _, refusing := a.cursor.refusing(); refusing {
		w.Header().Set("Connection", "close")
	}
	asked := retryAfter(w.Header(), time.Now())
	a.log.update(rec, func(rec *Request) { rec.Status, rec.RetryAfter = rep.status, asked })
	w.WriteHeader(rep.status)
	if !a.stream(w, r, chunks, s.Over) {
		a.abandon(w, rec)
		return
	}
	switch end {
	case CutHang:
		for s.Ping > 0 && a.sleep(r, s.Ping) && a.stream(w, r, [][]byte{event("ping", object{"type": "ping"})}, 0) {
		}
		<-r.Context().Done()
		a.abandon(w, rec)
		return
	case CutDrop:
		cut(w)
	case CutGarbage:
		a.stream(w, r, [][]byte{garbage}, 0)
	case CutOverloaded, CutError:
		a.stream(w, r, [][]byte{rep.inside}, 0)
	}
	how := CutByUs
	if end == CutNone {
		how = Whole
	}
	a.finish(rec, how)
}

// setHeaders sets those of the answer, and over them those of the step.
func setHeaders(h, answer http.Header, s *Step) {
	maps.Copy(h, answer)
	maps.Copy(h, s.Header)
	switch {
	case s.RetryAfter.Date:
		h.Set("Retry-After", time.Now().Add(s.RetryAfter.In).UTC().Format(http.TimeFormat))
	case s.RetryAfter.Seconds != "":
		h.Set("Retry-After", s.RetryAfter.Seconds)
	}
}

// retryAfter is how long an answer asks to wait; 0 if it does not.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// stream writes pieces, each at once, spread over a time. It returns false if the client has left.
func (a *API) stream(w http.ResponseWriter, r *http.Request, chunks [][]byte, over time.Duration) bool {
	control := http.NewResponseController(w)
	control.Flush()
	for i, c := range chunks {
		if i > 0 && over > 0 && !a.sleep(r, over/time.Duration(len(chunks)-1)) {
			return false
		}
		if _, err := w.Write(c); err != nil {
			return false
		}
		if err := control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return false
		}
	}
	// One that leaves now has got all of it.
	return true
}

// sleep returns false if the client leaves, or the rehearsal ends, before the time is over.
func (a *API) sleep(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	select {
	case <-time.After(d):
		return true
	case <-r.Context().Done():
		return false
	}
}

// abandon ends a request whose client has left, or that the rehearsal no longer waits for: it gets no answer.
func (a *API) abandon(w http.ResponseWriter, rec *Request) {
	end := ClientLeft
	if a.ctx.Err() != nil {
		end = Closed
	}
	a.finish(rec, end)
	cut(w)
}

// finish says how a request ended.
func (a *API) finish(rec *Request, end End) {
	a.log.update(rec, func(rec *Request) { rec.End, rec.Took = end, time.Since(rec.At) })
}

// cut resets the connection: the client gets ECONNRESET, not an orderly end.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // ends the connection too, but without a reset
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
}
