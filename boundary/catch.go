package boundary

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// end is how a handler has ended. An empty cause means well.
type end[R any] struct {
	result R
	cause  Cause
	err    error
	text   string
	stack  string
}

// catch calls fn on this goroutine, catches what can be caught and says how it ended. The goroutine must be its own: fn
// may end it, which is why tell is called in a deferred function.
func catch[R any](ctx context.Context, fn func(context.Context) (R, error), tell func(end[R])) {
	e := end[R]{cause: Exited, text: "ended its goroutine (runtime.Goexit)"}
	defer func() {
		if v := recover(); v != nil {
			e = end[R]{cause: Panicked, text: "panic: " + describe(v), stack: string(debug.Stack())}
			e.err, _ = v.(error)
		}
		tell(e)
	}()
	result, err := fn(ctx)
	e = end[R]{result: result}
	if err != nil {
		e.cause, e.err, e.text = Failed, err, describe(err)
	}
}

// describeTimeout is how long a value may take to say what it is.
const describeTimeout = time.Second

// describe is the text of a panic's value or of an error. Both have methods of their own, which may fail like anything
// else that a handler has made.
func describe(v any) string {
	switch v := v.(type) {
	case string:
		return short(v)
	case runtime.Error:
		return short(v.Error())
	}
	said := make(chan string, 1)
	callFor(describeTimeout, func() {
		text := ""
		switch v := v.(type) {
		case error:
			text = v.Error()
		case fmt.Stringer:
			text = v.String()
		default:
			text = fmt.Sprint(v)
		}
		said <- text
	})
	select {
	case text := <-said:
		return short(text)
	default:
		return fmt.Sprintf("a %T that cannot say what it is", v)
	}
}

// callFor calls fn and returns when it has ended, even by a panic, or when d has passed.
func callFor(d time.Duration, fn func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }()
		fn()
	}()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// maxText is how much of an error's text is kept: enough for a person or a model to go by.
const maxText = 500

// short makes one bounded line of a text.
func short(s string) string {
	if len(s) > 4*maxText {
		s = s[:4*maxText]
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "�")), " ")
	if r := []rune(s); len(r) > maxText {
		return string(r[:maxText]) + "…"
	}
	return s
}
