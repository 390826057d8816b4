// Package belaytype has the types that package belay takes and hands out: what to run, what happens meanwhile, what comes of it, and the
// causes of errors. Package belay has each of them under the same name, and is the package to import; here their fields are described.
package belaytype

import (
	"context"
	"io"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/retry"
)

// Command is what to run.
type Command struct {
	// Args is the command and its arguments. There is no shell.
	Args []string
	// Dir is the working directory; empty means the caller's.
	Dir string
	// Env is the environment; nil means the caller's. Belay's own settings (BELAY_*) are taken out of it.
	Env []string

	// Stdin is what the command reads; nil means nothing. A file is handed over as it is where that is possible.
	Stdin io.Reader
	// Prompt, if not nil, is given to every attempt: an agent is asked it, any other command reads it from stdin. The log
	// has its hash, never the text.
	Prompt *string

	// Stdout and Stderr take the output of the attempt that counts. A nil Stdout keeps it in Result.Output; a nil
	// Stderr drops it.
	Stdout, Stderr io.Writer

	// Check, if not nil, is asked whether the work of an attempt that succeeded is done; an error says what it lacks. An agent is told that and
	// goes on with its session, see belay.Runner.CheckRounds; if there is no error in the end it is a success, else [verdict.NotDone]. The result
	// has the answer, the session and what was used so far. The context ends with the run.
	Check func(ctx context.Context, r *Result) error

	// Terminal lets the command use the terminal that the caller runs on, as a shell would. It is for programs that own
	// their process; they pass on with belay.Invocation.Interrupt that the user has pressed Ctrl-C.
	Terminal bool
}

// Gate says how a runner takes part in a limit that it shares with others: see package [gate].
type Gate struct {
	// Key names the limit: all runners with the same key share it. Empty means the profile's own, and none for generic commands.
	Key string
	// Off takes part in no gate.
	Off bool
	// Settings say when the gate lets calls through. The zero value is the default.
	Settings gate.Settings
	// MaxParallel is how many attempts may be under way at the same time; 0 means no bound.
	MaxParallel int
}

// OnBusy says what to do when a scope is taken.
type OnBusy string

const (
	BusyWait    OnBusy = "wait"    // wait for it, within the longest wait; the default
	BusyReplace OnBusy = "replace" // end the run that has it
	BusyFail    OnBusy = "fail"    // fail at once
)

// Resume says how a runner treats the sessions of an agent.
type Resume struct {
	// Session is the one to go on with: its id, or [LastSession]. Empty begins a new one, unless the command line itself
	// says otherwise.
	Session string
	// OrNew begins a new session if that one no longer exists.
	OrNew bool
	// HandOver goes on if the service rejects the history of a session: with a copy that is repaired, or else in a new session, which is told what was done. OrNew does so
	// too. MaxCost hands over to a new session instead of resuming one if that costs more US dollars; 0 means no limit.
	HandOver bool
	MaxCost  float64
	// Prompt is what a session is told that goes on after a failed attempt; empty means "Continue where you left off."
	Prompt string
	// Interrupted says that the session has been given the request already, by a run that did not come to its end: it is told Prompt, or by
	// default to continue, and if the session no longer exists, the request begins a new one.
	Interrupted bool
	// Never begins anew after a failed attempt, also where that pays twice.
	Never bool
}

// LastSession stands for the last session of the same profile in the same directory. It takes a belay.State to know it.
const LastSession = "last"

// Effects says what is done after a failure that leaves open whether the command has changed something. The zero value
// does not repeat it, and fails with [ErrMayBeDone].
type Effects struct {
	// Verify looks whether it has, where the profile knows how.
	Verify bool
	// Repeat repeats it in any case.
	Repeat bool
}

// Preview is what running a command would do, as far as that can be known before it has begun.
type Preview struct {
	// Args is how the command would be started, and Env are settings in addition to its environment.
	Args, Env []string
	// Unknown is the option that keeps the command line from being added to; empty if there is none.
	Unknown string
	// Session is the one that would be resumed; empty for none. Resume is what that costs, in words; empty if it is not known.
	Session, Resume string
	// Gate is the key of the gate that it would take part in; empty for none.
	Gate string
	// Policy is what is in force, the profile's preset included.
	Policy retry.Policy
	// Deadline is how long an attempt may take, Stall how long it may show no life, and ToolStall while one of its tools
	// runs; 0 means no limit.
	Deadline, Stall, ToolStall time.Duration
	// Fallbacks are those that would be asked, in this order.
	Fallbacks []FallbackPreview
}

// FallbackPreview is how a fallback would be started.
type FallbackPreview struct {
	Name string
	// Args is how it would be started; nil if it would not, for the reason that Refused gives.
	Args []string
	// Gate is the key of the gate that it would take part in; empty for none.
	Gate    string
	Refused string
}
