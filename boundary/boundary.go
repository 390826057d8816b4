// Package boundary keeps a failing handler from taking its caller down.
//
// A handler runs behind a boundary: whether it panics, returns an error, hangs or ends its goroutine, the caller gets
// control back, in time, with a [Failure] in place of a result, and a [Recorder] learns of it with the stack.
//
// There are two kinds. [Hook] is for a program that calls handlers when something happens, before a tool is used, say;
// a [Registry] calls all that are registered for an event, in order, and a bad one never stops those after it. [Tool] is
// for the tools of an MCP server: the client gets a complete result that says isError, and never a stack. Package
// boundary/gosdk does that for servers built with the official Go SDK.
//
// A handler that ignores its context cannot be stopped, only left behind: its goroutine goes on by itself. And
// three things end the whole process whatever wraps them: a panic in a goroutine that the handler started, [os.Exit],
// and a fatal error of the runtime (concurrent map writes, out of memory, a stack overflow). Against those only another
// process helps: `belay hook` and `belay mcp`.
package boundary

import (
	"context"
	"time"
)

// Settings say how long a handler may take and what its failures are reported to. The zero value works.
type Settings struct {
	// Timeout is how long a handler may take. 0 means a minute for a hook and half a minute for a tool; negative means no limit
	// but the context's.
	Timeout time.Duration
	// Record is called with each failure. Its own panics are caught too, and it is not waited for longer than a few
	// seconds. It may be called by several goroutines at once. Nil means that failures are not recorded.
	Record Recorder
	// Server is the MCP server whose tools these are: what failures of [Tool] are counted by.
	Server string
}

// What a handler may take if nothing else is said.
const (
	hookTimeout = 60 * time.Second
	toolTimeout = 30 * time.Second
)

// Recorder puts a failure on record.
type Recorder func(Failure)

// recordTimeout is how long a recorder is waited for.
const recordTimeout = 5 * time.Second

func (s Settings) record(f Failure) {
	if s.Record != nil {
		callFor(recordTimeout, func() { s.Record(f) })
	}
}

// call is one call of a handler.
type call struct {
	settings Settings
	failure  Failure // what is known of a failure before there is one
}

// run calls fn and returns its result, or what went wrong. It comes back when fn does, when the time is up or when the
// context has ended, whichever is first.
func run[R any](ctx context.Context, c call, fn func(context.Context) (R, error)) (R, *Failure) {
	c.failure.Time = time.Now()
	inner, cancel := ctx, context.CancelFunc(func() {})
	if c.settings.Timeout > 0 {
		inner, cancel = context.WithTimeout(ctx, c.settings.Timeout)
	}
	defer cancel()
	ended := make(chan end[R]) // not buffered: a send succeeds only if run receives it
	left := make(chan struct{})
	go catch(inner, fn, func(e end[R]) {
		select {
		case ended <- e:
		case <-left:
			// run has returned, but a panic should not be lost: it may say why it took so long.
			if e.cause == Panicked {
				c.settings.record(*c.fail(e.cause, e.err, "after it had been given up: "+e.text, e.stack))
			}
		}
	})
	select {
	case e := <-ended:
		return resultOf(ctx, c, e)
	case <-inner.Done():
	}
	// A handler that watches its context is about to come back, perhaps with the result.
	select {
	case e := <-ended:
		return resultOf(ctx, c, e)
	case <-time.After(grace):
	}
	close(left)
	var none R
	if ctx.Err() != nil {
		return none, c.fail(Cancelled, context.Cause(ctx), "its caller has given up", "")
	}
	f := c.fail(TimedOut, context.DeadlineExceeded, "took longer than "+c.settings.Timeout.String(), "")
	c.settings.record(*f)
	return none, f
}

// grace is how long a handler has to come back once its context has ended.
const grace = 50 * time.Millisecond

// resultOf turns the end of a handler into what its caller gets.
func resultOf[R any](ctx context.Context, c call, e end[R]) (R, *Failure) {
	if e.cause == "" {
		return e.result, nil
	}
	if e.cause == Failed && ctx.Err() != nil {
		e.cause = Cancelled // the caller has given up, so the handler did not fail
	}
	f := c.fail(e.cause, e.err, e.text, e.stack)
	if e.cause != Cancelled {
		c.settings.record(*f)
	}
	return e.result, f
}

// fail fills in how a call has failed.
func (c call) fail(cause Cause, err error, text, stack string) *Failure {
	f := c.failure
	f.Cause, f.Err, f.Text, f.Stack, f.Took = cause, err, text, stack, time.Since(f.Time)
	if f.input != nil {
		f.Input = digest(f.input)
	}
	return &f
}
