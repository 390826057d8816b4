// Package faulttest makes up runs of commands that fail in every way that is known, and says what Belay must make of them.
//
// A [Fault] is what one start of a command does: what it prints, how it ends, and which class of failure that is. A [Run] is
// a sequence of faults under a policy. [Run.Expect] says what must come of it: it states the rules of the README once more,
// without any of the code that it is held against. The faults are played in fake time through the engine, and as real
// processes by the command.
package faulttest

import (
	"strings"
	"time"

	"github.com/belay-run/belay/verdict"
)

// Op is one thing that a command does.
type Op struct {
	Out   string        `json:",omitempty"` // on stdout
	Err   string        `json:",omitempty"` // on stderr
	Sleep time.Duration `json:",omitempty"`
	Hang  bool          `json:",omitempty"` // until it is ended
	Alive bool          `json:",omitempty"` // the same, but it goes on printing Out
}

// Fault is what one start of a command does, and what that means. A success is one too.
type Fault struct {
	Name   string
	Ops    []Op
	Code   int
	Signal int // it ends by this signal, in place of Code
	// AsText is what it would have ended with in the form that its caller asked for; 0 means Code.
	AsText int

	Class     verdict.Class
	Retryable bool
	Hint      time.Duration // the least time to wait that it tells of; 0 if it tells none
	Ends      Limit         // what ends it, if it does not end by itself
	Active    bool          // the model has worked in the session, which therefore goes on
	Begun     bool          // the session has a name
	Inner     []Inner       // what the CLI tries again by itself, in this order, before anything else fails
	Answer    string        // what the caller must get on stdout, if it is a success
	Delivered bool          // the answer is there before the end
}

// Limit is what ends a command that does not end by itself.
type Limit int

const (
	ByItself Limit = iota
	ByStall
	ByTimeout
)

// Inner is a retry that a CLI makes by itself.
type Inner struct {
	Class verdict.Class
	Wait  time.Duration
}

// Places in the text of a fault that are filled in when it is played.
const (
	sessionMark = "{{session}}"
	resetMark   = "{{reset}}" // when the plan can be used again
)

// Fill puts in what a text leaves open. now is the time at which it is printed.
func Fill(text, session string, now time.Time) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	return strings.NewReplacer(sessionMark, session, resetMark, unix(now.Add(untilReset))).Replace(text)
}

// untilReset is how long a plan that is used up stays so.
const untilReset = 40 * time.Minute

// fails makes a fault of a class that ends with exit code 1.
func fails(name string, class verdict.Class, ops ...Op) Fault {
	return Fault{Name: name, Ops: ops, Code: 1, Class: class, Retryable: class.Retryable()}
}

// says makes it one that tells when to come back.
func (f Fault) says(hint time.Duration) Fault {
	f.Hint = hint
	return f
}

// exits gives it another exit code.
func (f Fault) exits(code int) Fault {
	f.Code = code
	return f
}

// active makes it one after which the session goes on.
func (f Fault) active() Fault {
	f.Active = true
	return f
}

// dies makes it end by a signal.
func (f Fault) dies(signal int) Fault {
	f.Signal = signal
	return f
}

// after puts ops in front, which the command has done before.
func (f Fault) after(ops ...Op) Fault {
	f.Ops = append(append([]Op(nil), ops...), f.Ops...)
	return f
}
