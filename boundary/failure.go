package boundary

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// Failure is what a boundary has caught. It is an error, and unwraps to what the handler returned or panicked with.
type Failure struct {
	Kind Kind
	Name string // of the hook's handler, or of the tool
	// Server is the MCP server of a tool.
	Server string
	// Event, Action and Session say what a hook was called for.
	Event, Action, Session string

	Cause Cause
	Err   error  // what the handler returned, or panicked with if that was an error; may be nil
	Text  string // what happened, in one bounded line
	Stack string // of a panic
	// Input tells a tool's inputs apart without keeping them.
	Input Digest

	Time time.Time // when the handler was called
	Took time.Duration

	input any // of a tool, for as long as it is not known whether it is needed
}

// Kind is what a handler was.
type Kind string

const (
	KindHook Kind = "hook"
	KindTool Kind = "tool"
)

// Cause is how a handler has failed.
type Cause string

const (
	Panicked  Cause = "panic"
	Failed    Cause = "error"
	TimedOut  Cause = "timeout"
	Exited    Cause = "goexit"    // it ended its goroutine
	Cancelled Cause = "cancelled" // its caller gave up; that is no failure and not recorded
)

// Error implements error: "hook guard: panic: index out of range".
func (f *Failure) Error() string { return fmt.Sprintf("%s %s: %s", f.Kind, f.Name, f.Text) }

// Unwrap returns what the handler returned, or panicked with.
func (f *Failure) Unwrap() error { return f.Err }

// Digest names an input by its SHA-256 and its size as JSON.
type Digest struct {
	SHA256 string
	Size   int
}

// digest encodes the input where a panic or a hang is contained: it may have methods of its own.
func digest(input any) (d Digest) {
	got := make(chan Digest, 1)
	callFor(describeTimeout, func() {
		data, err := json.Marshal(input)
		if err == nil {
			sum := sha256.Sum256(data)
			got <- Digest{hex.EncodeToString(sum[:]), len(data)}
		}
	})
	select {
	case d = <-got:
	default:
	}
	return d
}
