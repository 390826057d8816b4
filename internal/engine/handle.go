package engine

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// Classify says what kind of failure an error is: that of a run by its verdict, any other by what it carries. An HTTP
// status, a refusal of a circuit breaker, an error of the network, a deadline and a cancel are known; for an error that was
// retried, what the last attempt said counts. The rest is unknown, and not worth repeating.
func Classify(err error) journal.Classification {
	if err == nil {
		return journal.Classification{Type: verdict.OK}
	}
	class, retryable := classOf(err)
	return journal.Classify(class, err.Error()).Judged(retryable)
}

// classOf is the class of an error, and whether it is worth repeating.
func classOf(err error) (class verdict.Class, retryable bool) {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Verdict.Class, e.Verdict.Retryable
	}
	if _, ok := errors.AsType[retry.Refusal](err); ok {
		return verdict.BreakerOpen, false
	}
	if e, ok := errors.AsType[*retry.Error](err); ok && e.Err != nil {
		return classOf(e.Err)
	}
	if _, ok := errors.AsType[*UsageError](err); ok {
		return verdict.InvalidRequest, false
	}
	if _, ok := errors.AsType[*Interrupt](err); ok || errors.Is(err, context.Canceled) {
		return verdict.Interrupted, false
	}
	retryable = retry.Network(err).Retry
	if status, ok := retry.Status(err); ok {
		return verdict.OfStatus(status, err.Error()), retryable
	}
	if retryable {
		return verdict.Network, true
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		return verdict.Timeout, false
	}
	return verdict.Unknown, false
}

// HandleError puts an error on record that a program has met in a session: `belay sessions` shows the session as failed,
// with the message, and `belay audit` the error with its classification and with context, which is whatever helps to
// understand it later. Of the session Profile and ID count; one without an ID is none, and the error is on record by itself.
//
// The error of a run is on record already, and gets the context; so it is once in the audit trail whoever handles it.
//
// The message and the values of context are redacted and bounded. What by its name is a prompt, an input, an output or an
// environment is kept as hash and size only.
//
// The classification is that of [Classify], for whoever wants to know whether to try again. The error says that the record
// could not be written. A nil err is nothing to handle.
func (s *State) HandleError(err error, session Session, context map[string]any) (journal.Classification, error) {
	c := Classify(err)
	if err == nil {
		return c, nil
	}
	detail, _ := json.Marshal(struct {
		Retryable bool            `json:"is_retryable"`
		Context   json.RawMessage `json:"context,omitempty"`
	}{c.IsRetryable, journal.Context(context)}) // JSON of our own making
	e := journal.Entry{Timestamp: journal.Time{Time: time.Now()}, Kind: journal.Audit, Event: journal.Failure, Profile: session.Profile,
		Command: filepath.Base(os.Args[0]), Session: session.ID, Status: journal.Error, ErrorType: c.Type, Error: c.Message[:min(len(c.Message), maxMessage)],
		Detail: detail}
	if e.Profile == "" {
		e.Profile = e.Command
	}
	if run, ok := errors.AsType[*Error](err); ok {
		e.Invocation = run.Invocation
	}
	log := journal.Log{Path: s.LogPath()}
	return c, errors.Join(log.Append(e), s.failSession(session, c.Type))
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
