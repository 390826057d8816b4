package state

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/verdict"
)

// HandleFailure puts a failure on record that a program has met in a session: the session as failed, and the failure in the
// audit trail with context. Of the session Profile and ID count; one without an ID is none. run is the id of the run that
// failed, which is on record already; empty if it was none.
func (s *State) HandleFailure(c journal.Classification, session Session, run string, context map[string]any) error {
	detail, _ := json.Marshal(struct {
		Retryable bool            `json:"is_retryable"`
		Context   json.RawMessage `json:"context,omitempty"`
	}{c.IsRetryable, journal.Context(context)}) // JSON of our own making
	e := journal.Entry{Timestamp: journal.Time{Time: time.Now()}, Kind: journal.Audit, Event: journal.Failure, Profile: session.Profile,
		Command: filepath.Base(os.Args[0]), Session: session.ID, Status: journal.Error, ErrorType: c.Type, Error: c.Message[:min(len(c.Message), maxMessage)],
		Detail: detail, Invocation: run}
	if e.Profile == "" {
		e.Profile = e.Command
	}
	log := s.Log(nil)
	return errors.Join(log.Append(e), s.failSession(session, c.Type))
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
