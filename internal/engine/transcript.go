package engine

import (
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/verdict"
)

// transcript is what an attempt prints: it is taken while it comes, read for what it says, and passed on to the caller at
// once or when the attempt is known to count.
type transcript interface {
	// end says that the process has ended.
	end()
	// outcome fills in what there is of the output for the profile to look at.
	outcome(o *verdict.Outcome)
	// judge is what the profile makes of the outcome. exited says that the command ended by itself.
	judge(o verdict.Outcome, exited bool, now time.Time) verdict.Verdict
	// exitCode is what the command would have ended with if it had been started as the caller wrote it.
	exitCode(code int) int
	// excerpt is what there is of stdout for rules of the caller's.
	excerpt() verdict.Excerpt
	// account is what the attempt has done, as far as it tells.
	account() agent.Account
	// worked reports whether the attempt of an agent may have done something that another one would do again.
	worked() bool
	// toldOfTurns reports whether the gate knows all that came of a conversation, turn by turn.
	toldOfTurns() bool
	// hasDelivered reports whether the result is there, though the process may go on.
	hasDelivered() bool
	// busy reports whether a tool runs.
	busy() bool
	// stoppedEarly is why the attempt was stopped before its time; nil if it was not.
	stoppedEarly() *earlyStop
	// unread reports whether the attempt was stopped because its output is not read any more.
	unread() bool
	// incomplete is why there is less of the output than the command has printed; nil if all of it was kept or passed on.
	incomplete() error
	// final says why there can be no further attempt, whatever came of this one; empty if nothing speaks against another.
	final() string

	// deliver passes on what was held.
	deliver() error
	// discard drops what was held, but for the standard error: a reader of events may show it later.
	discard()
	// replace puts other output in the place of what was held.
	replace(stdout string)
	// output is what the command has printed, or of an agent its answer, where that was held or kept; else nil.
	output() *Output
	// stderr is the same of its standard error.
	stderr() *Output
	// silent says that the attempt has failed and that what was passed on does not say why, which is given.
	silent(why string) bool
	// describe puts into a line of the log what the output tells.
	describe(e *journal.Entry, a *agent.Account)
	// version is the version of the CLI, where it has told.
	version() string
}
