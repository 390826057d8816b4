// Package transcript is what an attempt prints: it is taken while it comes, read for what it says, and passed on to the caller at once or when the attempt is
// known to count.
//
// A plain command has [Streams]. An agent has an [EventLog]: its pump has the lines, what is held and what is shown; the profile's follower says what a line
// means; the progress, a plain value, says how the attempt stands and which actions follow; and the EventLog carries these out, in one place. An [EarlyStop]
// is why it ends an attempt before its time.
package transcript

import (
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine/output"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/verdict"
)

// Transcript is what an attempt prints: it is taken while it comes, read for what it says, and passed on to the caller at
// once or when the attempt is known to count.
type Transcript interface {
	// End says that the process has ended.
	End()
	// Outcome fills in what there is of the output for the profile to look at.
	Outcome(o *verdict.Outcome)
	// Judge is what the profile makes of the outcome. exited says that the command ended by itself.
	Judge(o verdict.Outcome, exited bool, now time.Time) verdict.Verdict
	// ExitCode is what the command would have ended with if it had been started as the caller wrote it.
	ExitCode(code int) int
	// Excerpt is what there is of stdout for rules of the caller's.
	Excerpt() verdict.Excerpt
	// Account is what the attempt has done, as far as it tells.
	Account() agent.Account
	// Worked reports whether the attempt of an agent may have done something that another one would do again.
	Worked() bool
	// ToldOfTurns reports whether the gate knows all that came of a conversation, turn by turn.
	ToldOfTurns() bool
	// HasDelivered reports whether the result is there, though the process may go on.
	HasDelivered() bool
	// Busy reports whether a tool runs.
	Busy() bool
	// StoppedEarly is why the attempt was stopped before its time; nil if it was not.
	StoppedEarly() *EarlyStop
	// Unread reports whether the attempt was stopped because its output is not read any more.
	Unread() bool
	// Incomplete is why there is less of the output than the command has printed; nil if all of it was kept or passed on.
	Incomplete() error
	// Final says why there can be no further attempt, whatever came of this one; empty if nothing speaks against another.
	Final() string

	// Deliver passes on what was held.
	Deliver() error
	// Discard drops what was held, but for the standard error: a reader of events may show it later.
	Discard()
	// Replace puts other output in the place of what was held.
	Replace(stdout string)
	// Output is what the command has printed, or of an agent its answer, where that was held or kept; else nil.
	Output() *output.Output
	// Stderr is the same of its standard error.
	Stderr() *output.Output
	// Silent says that the attempt has failed and that what was passed on does not say why, which is given.
	Silent(why string) bool
	// Describe puts into a line of the log what the output tells.
	Describe(e *journal.Entry, a *agent.Account)
	// Version is the version of the CLI, where it has told.
	Version() string
}
