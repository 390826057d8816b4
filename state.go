package belay

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/belay-run/belay/boundary"
	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/hook"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// State is a directory with what Belay remembers: the log of all attempts, the records of runs under way, gates, scopes,
// sessions and alerts. All processes of a user may share it.
type State struct {
	// Dir is the directory; empty means [DefaultStateDir].
	Dir string
	// Alert says how many failures of one hook, tool or call raise an alert, of those that [State.Recorder] and
	// [State.HandleError] put on record. Runs have [Runner.Alert].
	Alert Alert
	// Observe, if not nil, is told of an alert that these raise, as [AlertRaised], and of trouble with the record, as
	// [StateTrouble]. It may be called by several goroutines at once.
	Observe func(Event)
}

// DefaultStateDir is where the belay command keeps its state: $BELAY_STATE_DIR, else the place that the system has for such
// things ($XDG_STATE_HOME/belay, ~/.local/state/belay).
func DefaultStateDir() (string, error) { return state.DefaultDir() }

// OpenState returns the state in a directory, which is made if it is not there; an empty dir means [DefaultStateDir]. A
// directory that others may write to is refused.
func OpenState(dir string) (*State, error) {
	s, err := state.Open(dir)
	if err != nil {
		return nil, err
	}
	return &State{Dir: s.Dir}, nil
}

// LogPath is the file with a line of JSON for each attempt; empty if Dir is and there is no default.
func (s *State) LogPath() string {
	dir, err := s.resolve()
	if err != nil {
		return ""
	}
	return dir.LogPath()
}

// resolve returns the state with its directory filled in.
func (s *State) resolve() (*state.State, error) {
	if s.Dir != "" {
		return &state.State{Dir: s.Dir}, nil
	}
	dir, err := state.DefaultDir()
	return &state.State{Dir: dir}, err
}

// Session is what is on record of a session of an agent.
type Session struct {
	// Profile and ID name it: "claude" and the CLI's own name for the session.
	Profile, ID string
	// Dir is the directory that it belongs to.
	Dir string
	// Status is "running", "done", "failed", "interrupted", or "abandoned" if a retry has begun another one.
	Status string
	// Updated is when it was last used.
	Updated time.Time
	// Usage is what was used in it.
	Usage verdict.Usage
}

// Session returns what is on record of a session; ok says that something is.
func (s *State) Session(profile, id string) (session Session, ok bool) {
	dir, err := s.resolve()
	if err != nil {
		return Session{}, false
	}
	known := dir.Session(profile, id)
	return newSession(known), known.ID != ""
}

// LastSession returns the session of a profile and a directory that was used last; ok says that there is one.
func (s *State) LastSession(profile, dir string) (session Session, ok bool) {
	in, err := s.resolve()
	if err != nil {
		return Session{}, false
	}
	last, ok := in.LastSession(profile, dir)
	return newSession(last), ok
}

func newSession(s state.Session) Session {
	return Session{Profile: s.Profile, ID: s.ID, Dir: s.Dir, Status: s.Status, Updated: s.Updated, Usage: s.Usage}
}

// Classification says what kind of failure an error is, for a program that reports or handles it.
type Classification struct {
	// Type is the class, as a verdict has it.
	Type    verdict.Class `json:"type"`
	Message string        `json:"message"`
	// IsRetryable says that it is worth repeating after a pause.
	IsRetryable bool `json:"is_retryable"`
	// Category is "connection" if the service was not reached or did not answer, "sdk" if the CLI or the service says what is
	// wrong, else "unknown".
	Category string `json:"category"`
	// Severity is "warning" for what is worth repeating, else "error".
	Severity string `json:"severity"`
}

// Classify says what kind of failure an error is: that of a run by its verdict, any other by what it carries. An HTTP
// status, a refusal of a circuit breaker, an error of the network, a deadline and a cancel are known; for an error that was
// retried, what the last attempt said counts. The rest is unknown, and not worth repeating.
func Classify(err error) Classification { return Classification(classify(err)) }

func classify(err error) journal.Classification {
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

// HandleError puts an error on record that a program has met in a session: the record shows the session as failed, with the
// message, the events and the audit trail have the error, the latter with its classification and with context, which is anything
// that helps to understand it later, and it counts for alerts. Of the session Profile and ID count: Profile is what failures are
// counted by, the program's name if it is empty, and without an ID the error is on record by itself.
//
// The error of a run is on record already, and gets the context, so that it is in the audit trail once. For a call that is
// repeated by package retry, [retry.Policy.OnGiveUp] is the place to call HandleError.
//
// The message and the values of context are redacted and bounded. What by its name is a prompt, an input, an output or an
// environment is kept as hash and size only.
//
// It is classified as by [Classify]. The error says that the record could not be written. A nil err is nothing to
// handle, and a nil State keeps no record.
func (s *State) HandleError(err error, session Session, context map[string]any) (Classification, error) {
	c := classify(err)
	if err == nil || s == nil {
		return Classification(c), nil
	}
	h := state.Handled{Classification: c, Session: state.Session{Profile: session.Profile, ID: session.ID}, Context: context}
	engine.SetLabels(&h.Labels, label.Inherited())
	if e, ok := errors.AsType[*Error](err); ok {
		h.Run = e.Invocation
	}
	if e, ok := errors.AsType[*retry.Error](err); ok {
		h.Retries = max(e.Attempts-1, 0)
	}
	dir, failed := s.resolve()
	if failed == nil {
		var raised *alert.Raised
		raised, failed = dir.HandleFailure(h, s.Alert.settings())
		s.tell(raised, c.Message, failed)
	}
	return Classification(c), failed
}

// Recorder puts what the boundaries of this program catch on record, as those of `belay hook` and `belay mcp` are: each failure is
// an event, and counts for alerts by the hook's name, or by the server of a tool. It is for the settings of package boundary.
// Nil, which records nothing, if s is nil.
func (s *State) Recorder() boundary.Recorder {
	if s == nil {
		return nil
	}
	return hook.Recorder(func(e journal.Entry) {
		engine.SetLabels(&e, label.Inherited())
		dir, err := s.resolve()
		if err == nil {
			err = dir.Prepare()
		}
		var raised *alert.Raised
		if err == nil {
			raised, err = dir.RecordFailure(dir.Log(nil), e, s.Alert.settings())
		}
		s.tell(raised, e.Error, err)
	})
}

// tell tells Observe what putting a failure on record has led to.
func (s *State) tell(raised *alert.Raised, last string, trouble error) {
	if s.Observe == nil {
		return
	}
	if trouble != nil {
		s.Observe(StateTrouble{Err: trouble})
	}
	if raised != nil {
		s.Observe(AlertRaised{Integration: raised.Integration, Failures: raised.Failures, Within: raised.Within, Last: last})
	}
}
