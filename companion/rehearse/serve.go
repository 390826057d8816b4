package rehearse

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxBody is more than any vendor takes.
const maxBody = 64 << 20

// serve answers one request.
func (a *API) serve(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	closed := a.closed
	if !closed {
		a.handlers.Add(1)
	}
	a.mu.Unlock()
	if closed {
		return
	}
	defer a.handlers.Done()
	at := time.Now()
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxBody))
	rec := &Request{At: at, Method: r.Method, Path: r.URL.Path, End: UnderWay, Header: r.Header, Body: body}
	v := vendorOf(r)
	if v == nil {
		a.log.add(rec)
		a.send(w, r, rec, jsonReply(http.StatusNotFound, object{"error": object{"message": "nothing is rehearsed for this path"}}), &Step{})
		return
	}
	c := v.read(r, body)
	c.r, c.subscription = r, a.options.Subscription
	rec.API, rec.Main, rec.Model, rec.Stream = v.name(), c.main, c.model, c.stream
	rec.Session, rec.LastMessage = c.session, c.last
	if !c.main {
		a.log.add(rec)
		a.send(w, r, rec, v.side(&c), &Step{})
		return
	}
	step, label, n := a.take(rec)
	a.log.update(rec, func(rec *Request) { rec.Step = label })
	a.play(w, r, rec, v, &c, &step, n)
	a.refuseIfDue()
}

// take gives a request its step and its place in the log in one go: they have the same order.
func (a *API) take(rec *Request) (Step, string, int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	step, label := a.cursor.next(rec.At)
	a.log.add(rec)
	a.answered++
	return step, label, a.answered
}

func vendorOf(r *http.Request) vendor {
	for _, v := range vendors {
		if v.claims(r) {
			return v
		}
	}
	return nil
}

// play answers a main request as its step says.
func (a *API) play(w http.ResponseWriter, r *http.Request, rec *Request, v vendor, c *call, s *Step, n int) {
	if !a.sleep(r, s.After) {
		a.abandon(w, r, rec)
		return
	}
	switch s.Before {
	case Hang:
		a.silence(r)
		a.abandon(w, r, rec)
		return
	case Reset:
		cut(w)
		a.finish(rec, r, true)
		return
	case Garbage:
		kind := "application/json"
		if c.stream {
			kind = "text/event-stream"
		}
		a.send(w, r, rec, reply{status: http.StatusOK, header: http.Header{"Content-Type": {kind}}, chunks: [][]byte{garbage}}, &Step{})
		a.log.update(rec, func(rec *Request) { rec.End = CutByUs })
		return
	}
	answer := v.good
	if s.Status >= 300 || s.UsageLimit || s.Overloaded {
		answer = v.fail
	}
	rep := answer(c, s, n)
	if s.Body != nil {
		rep.chunks, rep.cuts = [][]byte{[]byte(*s.Body)}, nil
		if s.Status >= 200 {
			rep.status = s.Status
		}
	}
	if s.Cut == CutOverloaded || s.Cut == CutError {
		rep.inside = v.failInside(c, s, n)
	}
	if rep.status < 300 && s.Body == nil {
		a.log.update(rec, func(rec *Request) { rec.Usage.Input = s.charged().Input })
	}
	a.send(w, r, rec, rep, s)
	if rep.status < 300 && s.Cut == CutNone && s.Body == nil {
		a.log.update(rec, func(rec *Request) {
			if rec.End == Whole {
				rec.Usage = s.charged()
			}
		})
	}
}

var garbage = []byte("%% this is not an answer %%\n\n{\"type\": \"mess")

// send sends an answer, with what the step does to it.
func (a *API) send(w http.ResponseWriter, r *http.Request, rec *Request, rep reply, s *Step) {
	for name, values := range rep.header {
		w.Header()[name] = values
	}
	for name, values := range s.Header {
		w.Header()[name] = values
	}
	switch {
	case s.RetryAfter.Date:
		w.Header().Set("Retry-After", time.Now().Add(s.RetryAfter.In).UTC().Format(http.TimeFormat))
	case s.RetryAfter.Seconds != "":
		w.Header().Set("Retry-After", s.RetryAfter.Seconds)
	}
	chunks, end := rep.chunks, CutNone
	if s.Cut != CutNone && rep.cuts != nil {
		end = s.Cut
		place := s.At
		if place == "" {
			place = InText
		}
		chunks = chunks[:rep.cuts[place]]
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
	a.log.update(rec, func(rec *Request) { rec.Status = rep.status })
	w.WriteHeader(rep.status)
	if !a.stream(w, r, chunks, s.Over) {
		a.abandon(w, r, rec)
		return
	}
	switch end {
	case CutHang:
		for s.Ping > 0 && a.sleep(r, s.Ping) && a.stream(w, r, [][]byte{event("ping", object{"type": "ping"})}, 0) {
		}
		a.silence(r)
		a.abandon(w, r, rec)
		return
	case CutDrop:
		cut(w)
	case CutGarbage:
		a.stream(w, r, [][]byte{garbage}, 0)
	case CutOverloaded, CutError:
		a.stream(w, r, [][]byte{rep.inside}, 0)
	}
	a.finish(rec, r, end != CutNone)
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
	return r.Context().Err() == nil
}

// sleep returns false if the client leaves, or the rehearsal ends, before the time is over.
func (a *API) sleep(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
	case <-a.closing:
	}
	return false
}

// silence lasts until the client leaves or the rehearsal ends.
func (a *API) silence(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-a.closing:
	}
}

// abandon ends a request whose client has left, or that the rehearsal no longer waits for: it gets no answer.
func (a *API) abandon(w http.ResponseWriter, r *http.Request, rec *Request) {
	a.finish(rec, r, false)
	cut(w)
}

// finish says how a request ended. byUs means that the script has cut it.
func (a *API) finish(rec *Request, r *http.Request, byUs bool) {
	end := Whole
	switch {
	case byUs:
		end = CutByUs
	case a.isClosing():
		end = Closed
	case r.Context().Err() != nil:
		end = ClientLeft
	}
	a.log.update(rec, func(rec *Request) { rec.End, rec.Took = end, time.Since(rec.At) })
}

func (a *API) isClosing() bool {
	select {
	case <-a.closing:
		return true
	default:
		return false
	}
}

// cut resets the connection: the client gets ECONNRESET, not an orderly end.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // ends it too, if less rudely
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
}
