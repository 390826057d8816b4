// Package verdict says what the outcome of a command means.
//
// A command leaves an [Outcome] behind: an exit code or a signal, and what it
// wrote. The profile of the command turns that into a [Verdict]: a [Class]
// such as rate_limit or auth, whether repeating is worth while, when to come
// back, and the evidence.
//
// Three parts help with that:
//
//   - [Excerpt] and [Capture] keep a bounded head and tail of a stream, so that
//     a gigabyte of output or a line of 16 MiB costs no more than a screenful.
//   - [Rule] is one row of a table of failures, written as data. [Compile] checks
//     a table, [Rules.Judge] asks it: the first rule that matches wins, and a table
//     without a match abstains.
//   - [ParseHint] finds in foreign text when to come back: Retry-After, epochs,
//     "try again in 17s", "resets 3pm (Europe/Berlin)".
//
// Everything here is pure: no clock is read (now is a parameter), nothing is
// written, and the only files ever opened are those of the time zone database.
// Nothing is compiled or built before the first failure asks for it, because
// the package is linked into a command that mostly sees successes.
package verdict

import (
	"encoding/json"
	"time"
)

// Verdict is what the outcome of one attempt means.
type Verdict struct {
	Class Class

	// Retryable tells whether repeating with back-off is worth while. It is the
	// class's default unless the rule that matched says otherwise, and false for
	// usage_limit, which its reset governs.
	Retryable bool

	// Hint is when the service asks to be called again; zero if it did not say.
	Hint Hint

	// Sent tells whether the request may have had an effect.
	Sent Sent

	// SessionID is the CLI's own name for the conversation, to resume it by.
	SessionID string

	// Usage is what the CLI reports of tokens and cost, in its own words.
	Usage json.RawMessage

	// Provider is the service that the command calls, in one word, and Model the one that an agent has worked with; empty where that is not
	// known. HTTPStatus is what the service has answered to a request that failed; 0 if it has not, or if the command does not say. A profile leaves them
	// empty: the run knows them.
	Provider, Model string
	HTTPStatus      int

	// Rule names the rule that matched.
	Rule string

	// Evidence is the text that the verdict rests on: a few bounded lines
	// without control characters.
	Evidence string
}

// Sent tells whether a request reached the service, and so whether repeating
// the command might repeat an effect. The empty value means not known.
type Sent string

const (
	SentNo    Sent = "no"
	SentMaybe Sent = "maybe"
	SentYes   Sent = "yes"
)

// Outcome is what a command left behind.
type Outcome struct {
	// Argv is the command as it was started.
	Argv []string

	// ExitCode is the exit code, or -1 if a signal ended the command.
	ExitCode int

	// Signal is the signal that ended the command by its name,
	// "SIGKILL", or empty if the command exited.
	Signal string

	// Stdout and Stderr are what the command wrote.
	Stdout, Stderr Excerpt

	// Started is when the command was started; zero for a saved outcome.
	Started time.Time
}
