package boundary_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/belay-run/belay/boundary"
	"github.com/belay-run/belay/internal/test/must"
)

// recorder keeps what boundaries have caught.
type recorder struct {
	mu   sync.Mutex
	list []boundary.Failure
}

func (r *recorder) record(f boundary.Failure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, f)
}

func (r *recorder) all() []boundary.Failure {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list)
}

// bubble runs a test in fake time, and lets handlers that were left behind come to their end.
func bubble(t *testing.T, f func(*testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		f(t)
		time.Sleep(48 * time.Hour)
	})
}

// Values that fail when they are asked what they are.
type (
	panicString  struct{}
	panicError   struct{}
	panicAgain   struct{}
	exitString   struct{}
	hangString   struct{}
	nilReceiver  struct{ text string }
	panicMarshal struct{}
)

func (panicString) String() string                { panic("in String") }
func (panicError) Error() string                  { panic(panicAgain{}) }
func (panicAgain) Error() string                  { panic("again") }
func (exitString) String() string                 { runtime.Goexit(); return "" }
func (hangString) String() string                 { time.Sleep(time.Hour); return "" }
func (n *nilReceiver) Error() string              { return n.text }
func (panicMarshal) MarshalJSON() ([]byte, error) { panic("in MarshalJSON") }

// bad are handlers that fail in every way that can be caught.
var bad = []struct {
	name  string
	fn    func(context.Context) error
	cause boundary.Cause
	text  string // a part of it
	stack bool
}{
	{"panic", func(context.Context) error { panic("boom") }, boundary.Panicked, "panic: boom", true},
	{"panic-with-error", func(context.Context) error { panic(io.ErrUnexpectedEOF) }, boundary.Panicked, "panic: unexpected EOF", true},
	{"panic-of-runtime", func(context.Context) error { var s []error; return s[len(s)] }, boundary.Panicked, "index out of range", true},
	{"panic-nil", func(context.Context) error { panic(nil) }, boundary.Panicked, "panic called with nil argument", true},
	{"panic-in-String", func(context.Context) error { panic(panicString{}) }, boundary.Panicked, "panic: a boundary_test.panicString that cannot say what it is", true},
	{"panic-in-Error", func(context.Context) error { panic(panicError{}) }, boundary.Panicked, "cannot say what it is", true},
	{"panic-with-nil-pointer", func(context.Context) error { panic((*nilReceiver)(nil)) }, boundary.Panicked, "cannot say what it is", true},
	{"Goexit-in-String", func(context.Context) error { panic(exitString{}) }, boundary.Panicked, "cannot say what it is", true},
	{"hang-in-String", func(context.Context) error { panic(hangString{}) }, boundary.Panicked, "cannot say what it is", true},
	{"panic-in-defer", func(context.Context) error { defer panic("second"); panic("first") }, boundary.Panicked, "panic: second", true},
	{"Goexit", func(context.Context) error { runtime.Goexit(); return nil }, boundary.Exited, "Goexit", false},
	{"error", func(context.Context) error { return io.ErrUnexpectedEOF }, boundary.Failed, "unexpected EOF", false},
	{"error-that-panics", func(context.Context) error { return panicError{} }, boundary.Failed, "cannot say what it is", false},
	{"hang", func(context.Context) error { time.Sleep(24 * time.Hour); return nil }, boundary.TimedOut, "took longer than 1m0s", false},
	{"heeds-its-context", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, boundary.Failed, "deadline exceeded", false},
}

// The caller goes on whatever a handler does, in time, and the recorder hears of it.
func TestHook_CatchesWhatCanBeCaught(t *testing.T) {
	for _, b := range bad {
		t.Run(b.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				rec := &recorder{}
				hook := boundary.Hook("guard", func(ctx context.Context, _ boundary.Event) (int, error) { return 7, b.fn(ctx) },
					boundary.Settings{Record: rec.record})
				begin := time.Now()
				_, f := hook(t.Context(), boundary.Event{Name: boundary.PreToolUse, Action: "Bash", Session: "s1"})
				if took := time.Since(begin); took > 62*time.Second {
					t.Errorf("it took %v", took)
				}
				if f == nil || f.Cause != b.cause || !strings.Contains(f.Text, b.text) || (f.Stack != "") != b.stack {
					t.Fatalf("%+v; want %s with %q", f, b.cause, b.text)
				}
				if b.stack && !strings.Contains(f.Stack, "boundary_test.go") {
					t.Errorf("the stack does not lead here:\n%s", f.Stack)
				}
				got := rec.all()
				if len(got) != 1 || got[0].Text != f.Text || got[0].Kind != boundary.KindHook || got[0].Name != "guard" ||
					got[0].Event != "PreToolUse" || got[0].Action != "Bash" || got[0].Session != "s1" {
					t.Errorf("recorded: %+v", got)
				}
				if !strings.HasPrefix(f.Error(), "hook guard: ") {
					t.Errorf("%q", f.Error())
				}
			})
		})
	}
}

func TestHook_ResultsAndErrorsComeThrough(t *testing.T) {
	hook := boundary.Hook("h", func(_ context.Context, e boundary.Event) (string, error) {
		if e.Input == nil {
			return "half", io.ErrUnexpectedEOF
		}
		return fmt.Sprint("got ", e.Input), nil
	}, boundary.Settings{})
	if got, f := hook(t.Context(), boundary.Event{Input: 3}); got != "got 3" || f != nil {
		t.Errorf("%q, %v", got, f)
	}
	if got, f := hook(t.Context(), boundary.Event{}); got != "half" || !errors.Is(f, io.ErrUnexpectedEOF) {
		t.Errorf("%q, %v", got, f)
	}
}

// A caller that gives up gets control back, and that is not a failure.
func TestHook_Cancelled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		rec := &recorder{}
		hook := boundary.Hook("h", func(context.Context, boundary.Event) (int, error) { time.Sleep(time.Hour); return 0, nil },
			boundary.Settings{Record: rec.record, Timeout: -1})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		if _, f := hook(ctx, boundary.Event{}); f == nil || f.Cause != boundary.Cancelled {
			t.Errorf("%v", f)
		}
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
		time.Sleep(2 * time.Hour)
		if got := rec.all(); len(got) != 0 {
			t.Errorf("recorded: %+v", got)
		}
	})
}

// A panic after the time was up is still caught, and on record: it may say why.
func TestHook_PanicsLate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		rec := &recorder{}
		hook := boundary.Hook("h", func(context.Context, boundary.Event) (int, error) { time.Sleep(time.Hour); panic("late") },
			boundary.Settings{Record: rec.record, Timeout: time.Second})
		if _, f := hook(t.Context(), boundary.Event{}); f == nil || f.Cause != boundary.TimedOut {
			t.Errorf("%v", f)
		}
		time.Sleep(2 * time.Hour)
		got := rec.all()
		if len(got) != 2 || got[1].Cause != boundary.Panicked || !strings.Contains(got[1].Text, "after it had been given up: panic: late") {
			t.Errorf("recorded: %+v", got)
		}
	})
}

// A recorder may fail in the same ways as a handler.
func TestHook_BadRecorder(t *testing.T) {
	for name, record := range map[string]boundary.Recorder{
		"panics": func(boundary.Failure) { panic("recorder") },
		"exits":  func(boundary.Failure) { runtime.Goexit() },
		"hangs":  func(boundary.Failure) { time.Sleep(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				hook := boundary.Hook("h", func(context.Context, boundary.Event) (int, error) { panic("x") }, boundary.Settings{Record: record})
				begin := time.Now()
				if _, f := hook(t.Context(), boundary.Event{}); f == nil || f.Cause != boundary.Panicked {
					t.Errorf("%v", f)
				}
				if took := time.Since(begin); took > 10*time.Second {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// The handlers after a bad one run, in order, and the results of the good ones are kept.
func TestRegistry_OneBadHandlerStopsNobody(t *testing.T) {
	events := []string{boundary.PreToolUse, boundary.PostToolUse, boundary.SessionStart, boundary.SessionEnd, boundary.UserPromptSubmit,
		boundary.Stop, "StopFailure", "SomethingNew"}
	for _, event := range events {
		t.Run(event, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				rec := &recorder{}
				r := &boundary.Registry[int]{Settings: boundary.Settings{Record: rec.record}}
				for i, b := range bad {
					r.On(event, b.name, func(ctx context.Context, _ boundary.Event) (int, error) { return 0, b.fn(ctx) })
					r.On(event, fmt.Sprint("good-", i), func(context.Context, boundary.Event) (int, error) { return i, nil })
				}
				r.On("another", "never", func(context.Context, boundary.Event) (int, error) { t.Error("called"); return 0, nil })
				outcomes := r.Fire(t.Context(), boundary.Event{Name: event})
				if len(outcomes) != 2*len(bad) || len(rec.all()) != len(bad) {
					t.Fatalf("%d outcomes, %d recorded", len(outcomes), len(rec.all()))
				}
				for i, got := range boundary.Results(outcomes) {
					if got != i {
						t.Errorf("result %d is %d", i, got)
					}
				}
				for i, b := range bad {
					o := outcomes[2*i]
					if o.Name != b.name || o.Failure == nil || o.Failure.Cause != b.cause || rec.all()[i].Name != b.name {
						t.Errorf("%s: %+v", b.name, o)
					}
				}
			})
		})
	}
}

func TestRegistry_HandlersComeAndGo(t *testing.T) {
	r := &boundary.Registry[string]{}
	if got := r.Fire(t.Context(), boundary.Event{Name: "x"}); len(got) != 0 {
		t.Errorf("%v", got)
	}
	var remove func()
	remove = r.On("x", "once", func(context.Context, boundary.Event) (string, error) {
		remove() // while it runs
		r.On("x", "later", func(context.Context, boundary.Event) (string, error) { return "later", nil })
		return "once", nil
	})
	for _, want := range [][]string{{"once"}, {"later"}} {
		if got := boundary.Results(r.Fire(t.Context(), boundary.Event{Name: "x"})); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	remove() // twice does no harm
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			undo := r.On("y", "h", func(context.Context, boundary.Event) (string, error) { panic("x") })
			r.Fire(t.Context(), boundary.Event{Name: "y"})
			undo()
		})
	}
	wg.Wait()
	if got := r.Fire(t.Context(), boundary.Event{Name: "y"}); len(got) != 0 {
		t.Errorf("%d handlers are left", len(got))
	}
}

func TestTool_GivesACompleteResult(t *testing.T) {
	for _, b := range bad {
		t.Run(b.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				rec := &recorder{}
				tool := boundary.Tool("search", func(ctx context.Context, _ map[string]string) (*boundary.Result, error) {
					return boundary.TextResult("x"), b.fn(ctx)
				},
					boundary.ErrorResult, boundary.Settings{Record: rec.record, Server: "lab"})
				begin := time.Now()
				data, err := json.Marshal(tool(t.Context(), map[string]string{"q": "s3cret"}))
				if took := time.Since(begin); err != nil || took > 32*time.Second {
					t.Errorf("%v after %v", err, took)
				}
				var got struct {
					Content    []struct{ Type, Text string }
					IsError    bool
					ResultType string
				}
				must.OK(t, json.Unmarshal(data, &got))
				if !got.IsError || got.ResultType != "complete" || len(got.Content) != 1 || !strings.HasPrefix(got.Content[0].Text, "Error in search: ") ||
					strings.Contains(string(data), ".go:") {
					t.Errorf("%s", data)
				}
				f := rec.all()[0]
				if f.Kind != boundary.KindTool || f.Server != "lab" || f.Input.Size != len(`{"q":"s3cret"}`) || strings.Contains(fmt.Sprintf("%+v", f.Input), "s3cret") {
					t.Errorf("recorded: %+v", f)
				}
			})
		})
	}
}

func TestTool_GoodResultsAndBadInputs(t *testing.T) {
	rec := &recorder{}
	tool := boundary.Tool("t", func(_ context.Context, in any) (*boundary.Result, error) {
		if in == nil {
			return boundary.TextResult("fine"), nil
		}
		panic("x")
	}, boundary.ErrorResult, boundary.Settings{Record: rec.record})
	if data, _ := json.Marshal(tool(t.Context(), nil)); string(data) != `{"content":[{"type":"text","text":"fine"}],"resultType":"complete"}` {
		t.Errorf("%s", data)
	}
	if data, _ := json.Marshal(&boundary.Result{}); string(data) != `{"content":[],"resultType":"complete"}` {
		t.Errorf("%s", data)
	}
	tool(t.Context(), panicMarshal{}) // cannot be hashed, which must not fail the call
	if got := rec.all(); len(got) != 1 || got[0].Input.Size != 0 {
		t.Errorf("recorded: %+v", got)
	}
}

// What a handler says is one line of bounded length.
func TestFailure_TextIsBounded(t *testing.T) {
	hook := boundary.Hook("h", func(context.Context, boundary.Event) (int, error) {
		return 0, errors.New(strings.Repeat("line\n\xff ", 100_000))
	}, boundary.Settings{})
	_, f := hook(t.Context(), boundary.Event{})
	if len([]rune(f.Text)) > 501 || strings.Contains(f.Text, "\n") || !utf8.ValidString(f.Text) {
		t.Errorf("%q", f.Text)
	}
}
