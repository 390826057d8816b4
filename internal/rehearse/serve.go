package rehearse

import (
	"cmp"
	"io"
	"net"
	"net/http"
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
	if a.tunnel(w, r) {
		return
	}
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
	c.r, c.api, c.subscription = r, a, a.options.Subscription
	c.main = c.main && !isAside(r.Header)
	rec.API, rec.Main, rec.Model, rec.Stream = v.name(), c.main, c.model, c.stream
	rec.Session, rec.LastMessage = c.session, c.last
	if !c.main {
		a.log.add(rec)
		a.send(w, r, rec, v.side(&c), &Step{})
		return
	}
	if a.cursor.script.Strict && c.refusal != nil {
		if step := c.refusal(body); step != nil { // which takes no step of the script
			rec.Step = step.Source
			a.log.add(rec)
			a.play(w, r, rec, v, &c, step, 0)
			return
		}
	}
	step, n := a.take(rec)
	if step.Before == Refuse { // it has come before the one that is answered last has ended, or the listener is closed
		cut(w)
		return
	}
	a.play(w, r, rec, v, &c, &step, n)
	a.refuseIfDue()
}

// take gives a request its step and its place in the log in one go: they have the same order. One that is to be refused has no place.
func (a *API) take(rec *Request) (step Step, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	step, rec.Step = a.cursorOf(rec.Session).next(rec.At)
	step, rec.Step = a.use(step, rec.Step, rec.At)
	if step.Before == Refuse {
		return step, 0
	}
	a.log.add(rec)
	a.answered++
	return step, a.answered
}

// cursorOf is where a session stands in the script. Requests without a session share one cursor.
func (a *API) cursorOf(session string) *cursor {
	if !a.cursor.script.PerSession {
		return a.cursor
	}
	if a.sessions[session] == nil {
		a.sessions[session] = &cursor{script: a.cursor.script}
	}
	return a.sessions[session]
}

// isAside reports whether grok asks for something that is not part of the work, such as the session's title or a summary: that has no number of a turn.
func isAside(h http.Header) bool {
	return h.Get("X-Grok-Client-Mode") != "" && h.Get("X-Grok-Turn-Idx") == ""
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
	c.model = cmp.Or(s.Model, c.model)
	if !a.sleep(r, s.After) {
		a.abandon(w, rec)
		return
	}
	switch s.Before {
	case Hang:
		<-r.Context().Done()
		a.abandon(w, rec)
		return
	case Reset:
		cut(w)
		a.finish(rec, CutByUs)
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
	if s.Before == Lost {
		v.good(c, s, n) // it is done, but the client gets no answer
		if s.Status == 0 {
			cut(w)
			a.finish(rec, CutByUs)
			return
		}
	}
	if !c.stream && (s.Cut == CutOverloaded || s.Cut == CutError) {
		s = insteadOf(s) // what is not a stream has no inside
	}
	answer := v.good
	if s.Status >= 300 || s.UsageLimit || s.Overloaded || s.Limit != "" {
		answer = v.fail
	}
	rep := answer(c, s, n)
	if s.Status != 0 {
		rep.status = s.Status
	}
	switch {
	case s.Body != nil:
		rep.chunks, rep.cuts = [][]byte{[]byte(*s.Body)}, nil
	case rep.status == http.StatusNoContent || rep.status == http.StatusNotModified:
		rep.chunks, rep.cuts = nil, nil // these have none
	}
	if s.Cut == CutOverloaded || s.Cut == CutError {
		rep.inside = v.failInside(c, s, n)
	}
	if rep.status < 300 && s.Body == nil {
		a.log.update(rec, func(rec *Request) { rec.Usage.Input = rep.usage.Input })
	}
	a.send(w, r, rec, rep, s)
	if rep.status < 300 && s.Cut == CutNone && s.Body == nil {
		a.log.update(rec, func(rec *Request) {
			if rec.End == Whole {
				rec.Usage = rep.usage
			}
		})
	}
}

// insteadOf is the error that a step says inside a stream, as an answer.
func insteadOf(s *Step) *Step {
	whole := *s
	whole.Cut, whole.Status = CutNone, http.StatusInternalServerError
	if s.Cut == CutOverloaded {
		whole.Overloaded, whole.Status = true, 0
	}
	return &whole
}

// tunnel lets a client reach the stand-ins through themselves: one that knows of a proxy, which is there for gh, and asks it
// for any address asks it for theirs too. Nothing else is reached. It returns false if the request asks for something else.
func (a *API) tunnel(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodConnect || r.Host != a.addr {
		return false
	}
	back, err := net.Dial("tcp", a.addr)
	if err != nil { // connections are refused for now
		w.WriteHeader(http.StatusBadGateway)
		return true
	}
	defer back.Close()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return true
	}
	defer client.Close()
	io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n")
	ended := make(chan struct{}, 2)
	for _, way := range []struct {
		to   io.Writer
		from io.Reader
	}{{back, buffered}, {client, back}} {
		go func() {
			io.Copy(way.to, way.from)
			ended <- struct{}{}
		}()
	}
	select {
	case <-ended:
	case <-a.ctx.Done():
	}
	return true
}
