package rehearse

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// Request is one that came, and what it was answered.
type Request struct {
	// At is when it came, Gap how long after the one before of its kind (main or not); 0 for the first.
	At  time.Time
	Gap time.Duration
	// API is the stand-in it was for: "anthropic", "openai"; empty if none of them claims it.
	API, Method, Path string
	// Main says that it is part of the work and took a step of the script: Step, as it is written there.
	Main bool
	Step string
	// Status is the HTTP status; 0 if there was no answer.
	Status int
	// End says how it ended, after Took.
	End  End
	Took time.Duration

	Model   string
	Stream  bool
	Session string
	// RetryAfter is how long the answer has asked to wait; 0 if it has not.
	RetryAfter time.Duration
	// Usage is what was charged: for an answer that was cut, its input.
	Usage Usage

	// LastMessage is the last text that the user, or a tool, has said; Header and Body are the request itself. They are
	// for tests, and in no report. Body is kept of the last 256 requests: an agent's are large.
	LastMessage string
	Header      http.Header
	Body        []byte
}

// End is how a request ended.
type End string

// The ends of a request.
const (
	UnderWay   End = "under way"
	Whole      End = "whole"       // the answer was sent to its end
	CutByUs    End = "cut"         // it ended as the script says: reset, dropped, unfinished
	ClientLeft End = "client left" // the client did not wait for it
	Closed     End = "closed"      // the rehearsal ended
)

const keptBodies = 256

// requestLog keeps the requests in the order in which they came.
type requestLog struct {
	mu   sync.Mutex
	list []*Request
}

// add enters a request; its fields are set through update from then on.
func (l *requestLog) add(r *Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, before := range slices.Backward(l.list) {
		if before.Main == r.Main {
			r.Gap = r.At.Sub(before.At)
			break
		}
	}
	l.list = append(l.list, r)
	if n := len(l.list) - keptBodies; n > 0 {
		l.list[n-1].Body = nil
	}
}

func (l *requestLog) update(r *Request, change func(*Request)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(r)
}

// Requests is what was asked so far, in the order in which it came.
func (a *API) Requests() []Request {
	a.log.mu.Lock()
	defer a.log.mu.Unlock()
	list := make([]Request, len(a.log.list))
	for i, r := range a.log.list {
		list[i] = *r
	}
	return list
}

// Main is those of [API.Requests] that took a step of the script.
func (a *API) Main() []Request {
	return slices.DeleteFunc(a.Requests(), func(r Request) bool { return !r.Main })
}

// Unused are the steps that no request has come to, as they are written, with what is left of their repetition.
func (a *API) Unused() []string { return a.cursor.rest() }
