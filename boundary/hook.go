package boundary

import "context"

// The events that agents have in common. Any other name is as good.
const (
	PreToolUse       = "PreToolUse"
	PostToolUse      = "PostToolUse"
	SessionStart     = "SessionStart"
	SessionEnd       = "SessionEnd"
	UserPromptSubmit = "UserPromptSubmit"
	Stop             = "Stop"
)

// Event is what a hook is called for.
type Event struct {
	Name    string // PreToolUse, or any other
	Action  string // what it is about, such as the tool's name
	Session string
	// Input is whatever else a handler is to know. All handlers of an event get the same.
	Input any
}

// Handler is what is called when an event happens.
type Handler[R any] func(ctx context.Context, e Event) (R, error)

// Hook puts a handler behind a boundary. The failure is nil if and only if the handler has returned a result and no
// error; a handler that returns both has both delivered.
func Hook[R any](name string, fn Handler[R], s Settings) func(context.Context, Event) (R, *Failure) {
	if s.Timeout == 0 {
		s.Timeout = hookTimeout
	}
	return func(ctx context.Context, e Event) (R, *Failure) {
		c := call{s, Failure{Kind: KindHook, Name: name, Event: e.Name, Action: e.Action, Session: e.Session}}
		return run(ctx, c, func(ctx context.Context) (R, error) { return fn(ctx, e) })
	}
}
