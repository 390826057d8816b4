package call

import (
	"sync"
	"time"

	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

// LiveRecord tells other processes what an invocation does now. Its methods do nothing where there is no record, and may
// be called from any goroutine.
type LiveRecord struct {
	Trouble func(error)

	mu      sync.Mutex
	rec     *supervise.Record // nil if there is none
	written time.Time         // when progress was last written
	pending *time.Timer       // writes the progress that came too soon after that
}

// ProgressInterval is how often progress is written at most.
const ProgressInterval = time.Second

// Open writes the record of an invocation that begins.
func (l *LiveRecord) Open(s *state.State, rec supervise.Record) {
	made, err := s.CreateRecord(rec)
	if err != nil {
		l.Trouble(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rec = made
}

// TakeRequest returns who has asked for the invocation to be stopped, as [supervise.Record.TakeRequest] does.
func (l *LiveRecord) TakeRequest() (supervise.StopRequest, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rec.TakeRequest()
}

// Close ends the record.
func (l *LiveRecord) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending != nil {
		l.pending.Stop()
	}
	l.rec.Remove()
	l.rec = nil
}

// Change changes the record and writes it.
func (l *LiveRecord) Change(change func(*supervise.Record)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rec != nil {
		change(l.rec)
		l.write()
	}
}

// write writes the record. The lock is held.
func (l *LiveRecord) write() {
	if err := l.rec.Update(); err != nil {
		l.Trouble(err)
	}
}

// Update says in which state the invocation is, and why.
func (l *LiveRecord) Update(state string, attempt int, reason string, until time.Time) {
	l.Change(func(rec *supervise.Record) {
		if rec.Attempt != attempt { // whose session is not known yet
			rec.Session, rec.Home, rec.Since = "", "", time.Time{}
			rec.Activity, rec.Memory = "", 0
		}
		rec.State, rec.Attempt, rec.Reason, rec.Until = state, attempt, reason, until
	})
}

// FellBack says that another command works on the request now, from that attempt on.
func (l *LiveRecord) FellBack(command, profile string, attempt int) {
	l.Change(func(rec *supervise.Record) {
		rec.Command, rec.Profile, rec.Attempt, rec.Activity = command, profile, attempt, ""
		rec.State, rec.Reason, rec.Until = supervise.StateRunning, "", time.Time{}
		rec.Session, rec.Home, rec.Since = "", "", time.Time{}
	})
}

// InSession puts the session of the present attempt on record, which began then: should we be killed, it is by that what
// was used is found.
func (l *LiveRecord) InSession(id, home string, began time.Time) {
	l.Change(func(rec *supervise.Record) { rec.Session, rec.Home, rec.Since = id, home, began })
}

// Progress says what an agent is doing and what was used so far, at most once a second.
func (l *LiveRecord) Progress(activity string, used verdict.Usage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rec == nil {
		return
	}
	tokens := used.InputTokens + used.OutputTokens
	if l.rec.Activity == activity && l.rec.Tokens == tokens && equal(l.rec.CostUSD, used.CostUSD) {
		return
	}
	l.rec.Activity, l.rec.Tokens, l.rec.CostUSD = activity, tokens, used.CostUSD
	if l.pending != nil {
		return
	}
	wait := ProgressInterval - time.Since(l.written)
	if wait <= 0 {
		l.written = time.Now()
		l.write()
		return
	}
	l.pending = time.AfterFunc(wait, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.pending = nil; l.rec != nil {
			l.written = time.Now()
			l.write()
		}
	})
}

// Using says how much memory the processes of the present attempt use.
func (l *LiveRecord) Using(bytes int64) (spared bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rec != nil && l.rec.Changed(bytes) {
		l.rec.Memory = bytes
		l.write()
	}
	return false
}

func equal(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }
