package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// openState prepares records and log. Trouble with them is said once and stops nothing.
func (inv *Invocation) openState() {
	state, err := OpenState(inv.runner.StateDir)
	if err != nil {
		inv.troubled = true
		inv.observe(StateTrouble{Err: err, Without: inv.shared()})
		return
	}
	inv.state = state
	if ended, err := state.Records().Reclaim(); err == nil && len(ended) > 0 {
		inv.observe(Reclaimed{ended})
	}
	inv.record, err = state.create(supervise.Record{ID: inv.id, Command: inv.command.name(),
		Profile: inv.profile.Name(), Started: inv.begun, Attempt: 1})
	if err != nil {
		inv.trouble(err)
	}
}

func (inv *Invocation) closeRecord() { inv.record.Remove() }

func (inv *Invocation) update(state string, attempt int, reason string, until time.Time) {
	if inv.record == nil {
		return
	}
	inv.recording.Lock()
	defer inv.recording.Unlock()
	rec := inv.record
	if rec.Attempt != attempt { // whose session is not known yet
		rec.Session, rec.Home, rec.Since = "", "", time.Time{}
	}
	rec.State, rec.Attempt, rec.Reason, rec.Until = state, attempt, journal.Redact(reason), until
	if err := rec.Update(); err != nil {
		inv.trouble(err)
	}
}

// inSession puts the session of the present attempt, which began then, on the run's record: should we be killed, it is by
// that what was used is found.
func (inv *Invocation) inSession(id string, began time.Time) {
	if inv.record == nil {
		return
	}
	inv.recording.Lock()
	defer inv.recording.Unlock()
	home := inv.talk.traits.Home
	if home != "" && !filepath.IsAbs(home) {
		home = filepath.Join(inv.dir(), home)
	}
	inv.record.Session, inv.record.Home, inv.record.Since = id, home, began
	if err := inv.record.Update(); err != nil {
		inv.trouble(err)
	}
}

func (inv *Invocation) trouble(err error) {
	if !inv.troubled {
		inv.troubled = true
		inv.observe(StateTrouble{Err: err})
	}
}

// shared is what the invocation was to have in common with others.
func (inv *Invocation) shared() (list []string) {
	if key := inv.runner.gateKey(); key != "" {
		list = append(list, "gate "+key)
	}
	if key := inv.runner.Scope; key != "" {
		list = append(list, "scope "+key)
	}
	return list
}

// journal puts one attempt on record. wait is how long the next one is waited for, if all goes as planned; code is what Belay ends with after it; nil if it goes on.
func (inv *Invocation) journal(n int, a attempt, wait time.Duration, stop *retry.Error, code *int) {
	e := journal.Entry{
		Timestamp: journal.Time{Time: time.Now()}, Invocation: inv.id, Profile: inv.profile.Name(),
		Command: inv.command.name(), Status: journal.Success, ExitCode: a.code, BelayCode: code,
		Gate: inv.runner.gateKey(), Session: inv.sessionOf(&a), Model: a.account.Model,
		Parent: enclosingRun(), Traceparent: traceparent(inv.env),
	}
	if a.exit.Signal != 0 {
		e.Signal = signalName(a.exit.Signal)
	}
	if requests := inv.requestsOf(&a); a.started && !a.recorded { // else what is known is that of an earlier attempt
		e.Attempt, e.ResponseTime, e.CPUTime = n, a.exit.Duration.Seconds(), a.exit.CPU.Seconds()
		e.Usage, e.Requests, e.Left, e.Killed = a.account.Usage.JSON(), requests, len(a.left), a.killed
		a.talk.describe(&e, &a.account)
	}
	inv.requests += e.Requests
	inv.waits.record(&e, wait)
	e.PromptHash = inv.promptHash()
	if a.verdict.Class != verdict.OK {
		e.ErrorType, e.Error, e.Rule = a.verdict.Class, a.message, a.verdict.Rule
		inv.blame(&e, &a)
		switch {
		case stop == nil:
			e.Status = journal.Retry
		case inv.exhausted(a, stop):
			e.Status = journal.Exhausted
		default:
			e.Status = journal.Error
		}
		if stop != nil {
			e.RetryAt.Time = stop.NotBefore
		}
	}
	inv.ownLog(e)
	if inv.state == nil {
		return
	}
	log := journal.Log{Path: inv.state.LogPath(), OnLarge: func(path string) { inv.observe(LogLarge{Path: path}) }}
	if err := log.Append(e); err != nil {
		inv.trouble(err)
	}
}

// requestsOf is how many requests an attempt has made, with what was asked on its account.
func (inv *Invocation) requestsOf(a *attempt) int {
	n := a.requests + inv.asked
	inv.asked = 0
	return n
}

// sessionOf is the session of an attempt. One that did not come so far, or does not come at all, leaves the session as it
// stands after the attempt before.
func (inv *Invocation) sessionOf(a *attempt) string {
	switch {
	case a.verdict.Class == verdict.SessionNotFound:
		return "" // there is none of that name
	case a.verdict.SessionID == "" && inv.talk != nil:
		return inv.talk.live
	}
	return a.verdict.SessionID
}

// promptHash tells prompts apart without keeping them: all that the command was asked, in its arguments, beside them and
// on stdin. Empty if that was nothing.
func (inv *Invocation) promptHash() string {
	h := sha256.New()
	size := 0
	put := func(text string) {
		h.Write([]byte(text))
		size += len(text)
	}
	if inv.talk != nil {
		put(inv.talk.traits.Prompt)
		put(string(inv.talk.first.Stdin))
	}
	if inv.command.Prompt != nil {
		put(*inv.command.Prompt)
	}
	if size == 0 && inv.command.Prompt == nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}
