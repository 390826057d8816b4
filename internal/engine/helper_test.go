package engine_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/test/must"
)

// told is what an observer of a runner was told.
type told struct {
	mu   sync.Mutex
	list []belaytype.Event
}

// observe lets a runner tell what happens.
func observe(r *engine.Runner) *told {
	w := &told{}
	r.Observe = func(e belaytype.Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.list = append(w.list, e)
	}
	return w
}

// all are the events of one type, in order.
func all[E belaytype.Event](w *told) (list []E) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.list {
		if one, ok := e.(E); ok {
			list = append(list, one)
		}
	}
	return list
}

// start starts a command, which must be possible.
func start(t *testing.T, r *engine.Runner, c belaytype.Command) *engine.Invocation {
	t.Helper()
	inv, err := r.Start(t.Context(), c)
	must.OK(t, err)
	return inv
}

// tool is a command that nothing is known of, claude that of an agent.
var (
	tool   = belaytype.Command{Args: []string{"tool"}}
	claude = belaytype.Command{Args: []string{"claude", "-p"}}
)

// steps is an attempt that does these things.
func steps(code int, list ...enginetest.Step) enginetest.Attempt {
	return enginetest.Attempt{Steps: list, Code: code}
}

// script scripts the attempts of a runner.
func script(r *engine.Runner, attempts ...enginetest.Attempt) *enginetest.Script {
	s := &enginetest.Script{Attempts: attempts}
	r.Starter = s
	return s
}

// agentRunner runs an agent of those traits, with gates and scopes of its own.
func agentRunner(traits agent.Info) *engine.Runner {
	return &engine.Runner{Profile: &enginetest.Agent{Facts: traits}, Admission: engine.Admission{Shared: &gate.Memory{}, Scopes: &gate.Memory{}}}
}

// brokenStore is a store in which nothing works.
type brokenStore struct{}

var errBroken = errors.New("the disk is on fire")

func (brokenStore) Load(string) (gate.State, error)                             { return gate.State{}, errBroken }
func (brokenStore) Update(string, time.Time, func(gate.State) gate.State) error { return errBroken }
func (brokenStore) List() ([]gate.Entry, error)                                 { return nil, errBroken }
func (brokenStore) Take(string, int, string) (*gate.Slot, error)                { return nil, errBroken }
func (brokenStore) Holders(string) []string                                     { return nil }
func (brokenStore) Watch(string) (<-chan struct{}, func(), error)               { return nil, nil, errBroken }

// closedWriter is a reader that goes away after so many bytes.
type closedWriter struct {
	room int
	got  bytes.Buffer
}

func (w *closedWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.room)
	w.room -= n
	w.got.Write(p[:n])
	if n < len(p) {
		return n, io.ErrClosedPipe
	}
	return n, nil
}

// contains fails the test unless the text has all of these.
func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q has no %q", text, part)
		}
	}
}

// equal fails the test unless both are the same.
func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// equalLists is equal for lists.
func equalLists[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// addsUp fails the test unless the waits of all lines of the log add up to what the result says. The log has milliseconds.
func addsUp(t *testing.T, r *engine.Runner, res *belaytype.Result) {
	t.Helper()
	if d := booked(t, r) - res.Waited; d.Abs() > time.Duration(len(entries(t, r)))*time.Millisecond {
		t.Errorf("waited %v, on record are %v", res.Waited, booked(t, r))
	}
}
