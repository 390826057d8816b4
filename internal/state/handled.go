package state

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/verdict"
)

// Handled is a failure that a program has met.
type Handled struct {
	journal.Classification
	// Session is where; of it Profile and ID count, and one without an ID is none. Labels is an entry with those of the program, and
	// nothing else.
	Session Session
	Labels  journal.Entry
	// Run is the id of the run that failed, which is on record and counted already; empty if it was none. Retries is how often
	// the call was repeated, if it was another one.
	Run     string
	Retries int
	Context map[string]any
}

// HandleFailure puts a failure on record that a program has met in a session: the session as failed, and the failure in the
// audit trail with context. It returns the alert that it raises, if it does.
func (s *State) HandleFailure(h Handled, set alert.Settings) (*alert.Raised, error) {
	detail, _ := json.Marshal(struct {
		Retryable bool            `json:"is_retryable"`
		Retries   int             `json:"retry_count,omitempty"`
		Context   json.RawMessage `json:"context,omitempty"`
	}{h.IsRetryable, h.Retries, journal.Context(h.Context)}) // JSON of our own making
	e := h.Labels
	e.Timestamp, e.Kind, e.Event, e.Invocation = journal.Time{Time: time.Now()}, journal.Audit, journal.Failure, h.Run
	e.Command = filepath.Base(os.Args[0])
	e.Profile, e.Session = cmp.Or(h.Session.Profile, e.Command), h.Session.ID
	e.Status, e.ErrorType, e.Error, e.Detail = journal.Error, h.Type, h.Message[:min(len(h.Message), maxMessage)], detail
	log := s.Log(nil)
	var raised *alert.Raised
	var err error
	if h.Run != "" {
		err = log.Append(e)
	} else {
		raised, err = s.RecordFailure(log, e, set)
	}
	return raised, errors.Join(err, s.failSession(h.Session, h.Type))
}

// maxMessage is more than a line of the log has room for.
const maxMessage = 8 << 10

// failSession changes what is on record of a session, if there is such a record.
func (s *State) failSession(session Session, class verdict.Class) error {
	if filepath.Base(session.Profile) != session.Profile {
		return nil
	}
	known := s.Session(session.Profile, session.ID)
	if known.ID == "" {
		return nil
	}
	known.Status = SessionFailed
	if class == verdict.Interrupted {
		known.Status = SessionInterrupted
	}
	return s.SaveSession(known)
}

// RecordFailure puts the failure of a hook, of an MCP server or of a program's own call into the log, and counts it for alerts. It
// returns the alert that it raises, if it does.
func (s *State) RecordFailure(log journal.Log, e journal.Entry, set alert.Settings) (*alert.Raised, error) {
	err := log.Append(e)
	counts := alert.Counts(string(e.ErrorType), e.Rule, true)
	if e.Kind == journal.MCP {
		counts = alert.CountsCall(string(e.ErrorType))
	}
	if e.Status != journal.Error || !counts {
		return nil, err
	}
	raised, aerr := s.CountFailure(log, e, set)
	return raised, errors.Join(err, aerr)
}

// CountFailure counts a failure that is on record among those of its integration. If that raises an alert, the alert is put on
// record and returned.
func (s *State) CountFailure(log journal.Log, e journal.Entry, set alert.Settings) (*alert.Raised, error) {
	raised, err := s.Alerts().Failed(e.Integration(), set, time.Now())
	if raised == nil {
		return nil, err
	}
	if e.Kind != "" {
		e.Invocation = "" // that of a proxy is not a run's
	}
	detail, _ := json.Marshal(map[string]any{"failures": raised.Failures, "within_s": raised.Within.Seconds()})
	return raised, errors.Join(err, log.Append(journal.Entry{Timestamp: journal.Time{Time: time.Now()}, Kind: journal.Alert, Event: "raised",
		Profile: e.Integration(), Invocation: e.Invocation, Status: journal.Success, Error: e.Error, Detail: detail,
		Parent: e.Parent, Name: e.Name, Tags: e.Tags, Project: e.Project, Batch: e.Batch, Task: e.Task, Line: e.Line}))
}
