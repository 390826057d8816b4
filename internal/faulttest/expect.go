package faulttest

import (
	"cmp"
	"math"
	"time"

	"github.com/belay-run/belay/verdict"
)

// Expected is what must come of a run.
type Expected struct {
	Class    verdict.Class
	Exit     int
	Attempts []Attempt
	// Why says which rule has ended it.
	Why string
}

// Attempt is one start of a run.
type Attempt struct {
	Fault   *Fault
	Session string        // that it begins, or goes on with
	Resumes bool          // it goes on with a session
	Class   verdict.Class // what it was worth
	Status  string        // in the log
	Inner   time.Duration // waited inside of it
	Wait    time.Duration // waited after it
	Stopped bool          // it was ended because its own retries have no room
	Timed   bool          // it ran into its timeout
}

// Waited is how long the run waits in all.
func (e *Expected) Waited() (sum time.Duration) {
	for i := range e.Attempts {
		sum += e.Attempts[i].Inner + e.Attempts[i].Wait
	}
	return sum
}

// The statuses of the log.
const (
	success   = "success"
	again     = "retry"
	exhausted = "exhausted"
	failure   = "error"
)

// The exit codes of docs/reference.md.
const (
	tryLater      = 75
	personMustAct = 78
	timeout       = 124
)

// Expect says what must come of the run. No gate takes part in it.
func (r *Run) Expect() *Expected {
	e := &Expected{}
	m := model{run: r, failed: map[verdict.Class]int{}}
	for n := 0; ; n++ {
		f := &r.Faults[min(n, len(r.Faults)-1)]
		a := Attempt{Fault: f, Class: f.Class, Resumes: m.session != "", Session: m.session, Status: again}
		if a.Session == "" {
			a.Session = r.SessionID(n + 1)
		}
		a.Timed = f.Ends == ByTimeout
		over := m.after(&a)
		e.Attempts = append(e.Attempts, a)
		if over {
			e.Class, e.Why = a.Class, m.why
			e.Exit = r.exitCode(&a)
			return e
		}
	}
}

// model follows a run.
type model struct {
	run      *Run
	session  string // that the next attempt goes on with
	repeats  int    // retries that count
	attempts int    // that have failed
	restarts int
	timeouts int
	waited   time.Duration
	failed   map[verdict.Class]int
	why      string
}

// after follows one attempt, and reports whether it is the last.
func (m *model) after(a *Attempt) bool {
	p, f := &m.run.Policy, a.Fault
	for _, in := range f.Inner { // they count like ours
		if m.repeats >= m.most() || in.Wait > m.longest()-m.waited {
			a.Class, a.Stopped = in.Class, true
			return m.end(a, exhausted, "retries of its own")
		}
		m.repeats++
		m.waited += in.Wait
		a.Inner += in.Wait
	}
	if f.Class == verdict.OK {
		return m.end(a, success, "it works")
	}
	if f.Class == verdict.SessionNotFound && a.Resumes { // which costs no retry
		m.session = ""
		m.restarts++
		if m.attempts+m.restarts < m.starts() {
			return false
		}
	}
	retryable := f.Retryable || a.Timed && p.RetryTimeouts > 0
	spent := failure // what the log says if there is no further attempt though there might be
	if p.MaxRetries > 0 && (retryable || f.Class == verdict.UsageLimit) {
		spent = exhausted
	}
	if (f.Class == verdict.Stalled || f.Class == verdict.BadOutput) && m.failed[f.Class] > 0 {
		return m.end(a, spent, "the second of its class")
	}
	n := m.attempts
	m.attempts++
	switch {
	case a.Timed && m.timeouts >= p.RetryTimeouts:
		return m.end(a, spent, "timeouts used up")
	case !retryable && !(f.Class == verdict.UsageLimit && f.Hint > 0):
		return m.end(a, failure, "not worth repeating")
	}
	throttled := f.Class == verdict.RateLimit || f.Class == verdict.UsageLimit
	counts := !throttled || p.CountThrottles
	if counts && m.repeats >= m.most() {
		return m.end(a, spent, "retries used up")
	}
	if m.attempts+m.restarts >= m.starts() {
		return m.end(a, spent, "starts used up")
	}
	wait := max(min(time.Duration(float64(p.BaseDelay)*math.Pow(p.Factor, float64(n))), p.MaxDelay), f.Hint)
	if wait > m.longest()-m.waited {
		return m.end(a, spent, "no time left")
	}
	if counts {
		m.repeats++
	}
	if a.Timed {
		m.timeouts++
	}
	m.waited += wait
	m.failed[f.Class]++
	a.Wait = wait
	if f.Begun && f.Active {
		m.session = a.Session
	}
	return false
}

func (m *model) end(a *Attempt, status, why string) bool {
	a.Status, m.why = status, why
	return true
}

// most is how many retries there are.
func (m *model) most() int { return max(m.run.Policy.MaxRetries, 0) }

// starts is how many there are at most: 20 where nothing else bounds them.
func (m *model) starts() int {
	if p := &m.run.Policy; !p.CountThrottles && p.MaxWait == 0 {
		return max(20, p.MaxRetries+1)
	}
	return math.MaxInt
}

// longest is how long may be waited in all.
func (m *model) longest() time.Duration {
	if m.run.Policy.MaxWait == 0 {
		return 5 * time.Minute
	}
	return m.run.Policy.MaxWait
}

// exitCode is what Belay ends with after the last attempt.
func (r *Run) exitCode(a *Attempt) int {
	child := cmp.Or(a.Fault.AsText, a.Fault.Code)
	if a.Fault.Signal != 0 {
		child = 128 + a.Fault.Signal
	}
	if a.Stopped {
		child = 1
	}
	own := child
	if own == 0 {
		own = 1 // a lying 0
	}
	switch {
	case a.Class == verdict.OK:
		return 0
	case a.Stopped: // which is no end of its own
	case a.Class == verdict.Interrupted:
		return own
	case a.Timed, a.Class == verdict.Stalled:
		return timeout
	}
	switch {
	case r.CLI == Job || r.Policy.MaxRetries < 0:
		return own
	case a.Class == verdict.Auth, a.Class == verdict.Billing:
		return personMustAct
	case a.Status == exhausted, a.Class == verdict.RateLimit, a.Class == verdict.UsageLimit, a.Class == verdict.SessionBusy:
		return tryLater
	}
	return own
}

// Played is an attempt in the form in which a scripted process reads it.
type Played struct {
	Ops     []Op
	Code    int
	Signal  int
	Session string
	Leaves  string // a process in the background: in its "group", in a "session" of its own, or none
}
