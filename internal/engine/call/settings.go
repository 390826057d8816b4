package call

import (
	"cmp"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// Settings say how commands are run. The zero value works, see engine.Runner.
type Settings struct {
	// Profile is what is known of the command, made for its command line; nil means the generic one, to which every failure
	// is worth repeating if Policy.MaxRetries asks for retries at all.
	Profile agent.Profile

	// Judge, if not nil, may overrule the profile's verdict.
	Judge func(own verdict.Verdict, o verdict.Outcome, now time.Time) verdict.Verdict

	// Policy says how often, how long and how to wait. Its zero MaxRetries means none for a plain command: what has an
	// effect must not be repeated unless that was asked for. For an agent and for gh it means the preset of that name, from
	// which also come the delays that are not set. Classify is not used; Delay gets an [*Error].
	Policy retry.Policy

	// Resume says how the sessions of an agent are treated.
	Resume belaytype.Resume

	// Effects says what is done where a failure leaves open whether the command has changed something.
	Effects belaytype.Effects

	// Check has the work checked before it counts.
	Check Check

	// Worktree has the command work in a tree of its own.
	Worktree Worktree

	// Fallbacks are agents that get the request, one after the other, when the agent before cannot take it for longer than may be
	// waited. FallbackAfterWork lets them do so also after that agent has worked on it.
	Fallbacks         []Fallback
	FallbackAfterWork bool

	// State is where log, run records, gates, scopes, sessions and alerts are kept; nil means nowhere. Trouble with it is
	// told to Observe and stops nothing.
	State *state.State

	// Prices say what model calls cost where the CLI does not; nil means the list that is built in.
	Prices *price.Table

	// Starter starts the processes; nil means [Supervised], the library's way.
	Starter Starter

	// Observe is told what happens, one thing at a time, from the goroutines of the run, which wait for it. Lines that an
	// agent prints are not among that: see Invocation.Events of the engine.
	Observe func(belaytype.Event)

	// Follow is told what an agent is doing: when that changes, and twice a second at most what it has used. Its goroutines wait
	// for it.
	Follow func(Activity)

	// InSession, if not nil, is told the name of an agent's session as soon as that is known.
	InSession func(id string)

	// Words says a cause in the caller's own words, which may name its flags; empty means in the cause's. Nil means always.
	Words func(cause error) string

	Limits
	Streams
	Admission
	Record
}

// Limits bound what a command takes: of time, of money, of the machine.
type Limits struct {
	// Stall ends an attempt that has printed nothing for so long. Zero means the agent's own limit, and none for other
	// commands; negative means none.
	Stall time.Duration

	// AtMost lowers the limits of the command, also those that its profile decides on. The zero value lowers nothing.
	AtMost Bounds

	// LimitBuffer is how long is waited beyond the reset of a service's limit; 0 means 5 s, negative none.
	LimitBuffer time.Duration

	// MaxCost is what all attempts of an agent together may cost, in US dollars, with the agents that run inside it: at that
	// limit it is stopped before its next model call. 0 means no limit.
	MaxCost float64

	// RequireModel is the model that alone may work on the request, or [AskedModel]; empty means any. Another one in the main thread of an agent ends
	// the attempt, and does not count as its success; see [belaytype.ModelSubstitution]. Fallbacks may use theirs.
	RequireModel string

	// Ceilings bound what each attempt takes of the machine, and does in vain.
	Ceilings Ceilings

	// Budgets are those that what an agent costs is charged to, and that keep it from starting when they are used up. They are
	// kept in the State.
	Budgets []budget.Joined

	// OnlyAttempt says that Policy has no retries because the caller has given a number of attempts, which is one. When that has failed, the
	// attempts are used up; else the caller wants no retries, and to see what the command itself ends with.
	OnlyAttempt bool

	// Reap ends what the command has left running in the background, also after a success.
	Reap bool
}

// Streams say what becomes of what the command prints and reads.
type Streams struct {
	// Stream passes output on as it comes, also that of attempts that will be repeated. Otherwise the output of a
	// command that may be repeated is held until it is known to count.
	Stream bool

	// WholeStream gives a caller who reads an agent's events each of them when it comes, also before the model has answered, and the
	// one that ends the stream: the agent comes to the end of its own retries, also where there is no hope or no room for them.
	// They still count. Of an attempt that is repeated, the caller has then seen the beginning. A conversation also starts at a
	// closed gate: its caller gets the service's answer to each turn, as without us.
	WholeStream bool

	// Keep also keeps in the result what is passed on live: the output, and of the standard error what says why it
	// failed. The command then writes to pipes instead of the caller's files.
	Keep bool

	// ReplayStdin keeps the standard input for further attempts. Otherwise an attempt that has read any of it is
	// the last one.
	ReplayStdin bool

	// ShowWork says that what a CLI itself shows of its work on stderr is passed on as it comes. TerminalInput says that the caller's stdin is
	// a terminal, which the CLI itself would see.
	ShowWork, TerminalInput bool
}

// Admission says when an attempt may start, and with whom that is agreed.
type Admission struct {
	// Gate is what is shared with all that name the same key: all processes of the user where there is a State, else all
	// runners of this process.
	Gate belaytype.Gate

	// Scope, if not empty, lets only one run of that key live at a time, among those that share gates; OnBusy says what to
	// do when it is taken.
	Scope  string
	OnBusy belaytype.OnBusy

	// Schedule says when the first attempt may start; the zero value means at once. Postponed, if not nil, is told what
	// that waits for.
	Schedule  Schedule
	Postponed func(Postponed)

	// Reserve is the share of an account's limits that is left to others: an invocation does not begin while more than the rest is used.
	Reserve quota.Reserve

	// NoWait fails where a wait at a gate would be needed. (Waits between attempts are the policy's.)
	NoWait bool

	// Shared and Scopes take the place of the State's gates and scopes; nil means those, or those of this process if there
	// is no State.
	Shared Shared
	Scopes SlotStore
}

// Record says how the run is called, and where it is put on record.
type Record struct {
	// ID is the id of the one invocation that this runner is for, see engine.NewID; empty means that each gets an id of its own.
	ID string

	// Telemetry says in the log that the run is to be sent as a trace, and makes its attempts part of that.
	Telemetry bool

	// Labels are what the run is called, in records, log and result; runs inside it inherit them.
	Labels label.Labels

	// Project is the directory that the work belongs to, for a caller that has looked; empty means that it is found from the working directory.
	Project string

	// Task is what a batch calls the run, in records and log; the zero value if it is none of a batch.
	Task Task

	// NoRecord keeps the run out of the log: only what finds its processes, should we be killed, is written.
	NoRecord bool

	// NoTail leaves the end of the output out of the result of a command that failed each time.
	NoTail bool
	// KeepPrompt keeps the beginning of the prompt in the log and in the result.
	KeepPrompt bool

	// OwnCode says that the caller ends with [Result.OwnCode] instead of [Result.ExitCode]: then the log says so too.
	OwnCode bool

	// Alert says how many failures of one integration (the profile, or a plain command's name) are too many; the zero value
	// means five within ten minutes. Failures are counted in the State.
	Alert alert.Settings

	// LogDir is where claude's own log of invocations goes; empty means .logs in the working directory if there is a State,
	// and nowhere if there is none. [NoLogDir] means nowhere.
	LogDir string
}

// Task is a run as a task of a batch.
type Task struct {
	Batch string // its results, as a path
	ID    string
	Line  int // where it begins in the file of tasks, from 1; 0 if it has no line
}

// Bounds are limits that only lower others: each applies where it is lower than the one that applies without it. Zero means no
// bound.
type Bounds struct {
	Timeout, Stall time.Duration // of an attempt
	Starts         int           // of all attempts together
}

// Lower is the lower of a limit, of which zero or less is none, and a bound to it.
func Lower(limit, bound time.Duration) time.Duration {
	if bound > 0 && (limit <= 0 || bound < limit) {
		return bound
	}
	return limit
}

// SlotStore bounds how many hold a key at the same time. [gate.Slots] does so for all processes, [gate.Memory] for one.
type SlotStore interface {
	// Take takes one of n slots of a key in the holder's name; [gate.ErrFull] if there is none.
	Take(key string, n int, holder string) (*gate.Slot, error)
	// Holders are the names of those that hold a slot of the key now.
	Holders(key string) []string
}

// Shared is what callers of the same gates have in common: the states, news of their changes, and the slots. [gate.Files]
// shares them between processes, [gate.Memory] within one.
type Shared interface {
	gate.Store
	SlotStore
	// Watch returns a channel that gets a value when the state of a key may have changed, and a function that ends that.
	// The error says that a caller has to poll.
	Watch(key string) (changed <-chan struct{}, stop func(), err error)
}

// ProfileInUse is the profile, or the generic one.
func (r *Settings) ProfileInUse() agent.Profile {
	if r.Profile != nil {
		return r.Profile
	}
	p, _ := generic.New(generic.Options{Retry: true}) // nothing in it can be wrong
	return p
}

// LimitBufferInUse is how long is waited beyond a reset: clocks differ.
func (r *Settings) LimitBufferInUse() time.Duration {
	if r.LimitBuffer == 0 {
		return 5 * time.Second
	}
	return max(r.LimitBuffer, 0)
}

// StarterInUse is what starts the processes.
func (r *Settings) StarterInUse() Starter {
	if r.Starter != nil {
		return r.Starter
	}
	return Supervised{}
}

// Check says what becomes of work that is checked before it counts: by a line for the shell, or by [belaytype.Command.Check].
type Check struct {
	// Line is for the user's shell, which gets the answer on stdin; exit code 0 accepts it. Timeout is how long it may take; 0 means 10 minutes.
	Line    string
	Timeout time.Duration
	// Rounds is how often an agent is told that it is not done; 0 means 3, negative never. Prompt is what it is told before what the check has
	// printed; empty means to finish the work.
	Rounds int
	Prompt string
	// First checks before the first attempt too: if there is nothing to do, nothing is started.
	First bool
	// Repeat says that what has no session is started again, within the retries of the policy.
	Repeat bool
}

// Most is how often an agent is told at most.
func (c *Check) Most() int { return max(cmp.Or(c.Rounds, 3), 0) }

// Limit is how long the line may take.
func (c *Check) Limit() time.Duration { return cmp.Or(c.Timeout, 10*time.Minute) }

// Worktree says that the command works in a git worktree of its own, which is kept in the State.
type Worktree struct {
	On bool
	// Ref is what it begins from; empty means the commit that is checked out.
	Ref string
	// Dir is the directory that the tree is made in; empty means the State's.
	Dir string
	// Setup is a line for the user's shell, which runs once in a new tree.
	Setup string
	// Land brings the work into the branch that is checked out.
	Land bool
	// Key names the work of a task: it finds the tree of an earlier run of it again. Empty for a run of its own.
	Key string
}

// Ceilings bound what an attempt takes of the machine, and what it does in vain. Above one of them it is ended as for a stall, and repeated once: an
// agent continues its session, and is told why. Zero means no such bound.
type Ceilings struct {
	Memory   int64 // of the command and all that it has started together, in bytes
	FreeDisk int64 // what must stay free, in bytes, where the command works, in its home and where temporary files are
	Agents   int   // how many sub-agents an agent has at a time
	Repeats  int   // the same tool call with the same input in a row, of which this one is too many
}

// Fallback is an agent that gets the request when those before it cannot take it: a limit ends too late, or the service stays
// overloaded, or its breaker is open. A permanent failure ends the run, also that of a fallback.
type Fallback struct {
	// Profile is the agent, and Model the model that it is to use; empty means its own choice.
	Profile, Model string
	// Args, if not nil, are what it is started with, beside what makes it work on a request. Otherwise that is what it can be told of
	// the caller's command line, which must be all of it.
	Args []string
	// Policy, if not nil, is the policy of its attempts; otherwise that of the runner. How long may be waited in all, and
	// how long all may take, is said by the runner alone.
	Policy *retry.Policy
	// Judge takes the place of the runner's.
	Judge func(own verdict.Verdict, o verdict.Outcome, now time.Time) verdict.Verdict
	// Budgets are those that its cost is charged to beside the runner's.
	Budgets []budget.Joined
	// Optional leaves it out where it does not fit the command, instead of refusing the command.
	Optional bool
}

// Name is what the caller calls the fallback: "codex", "claude:sonnet".
func (f *Fallback) Name() string {
	if f.Model == "" {
		return f.Profile
	}
	return f.Profile + ":" + f.Model
}

// NoLogDir as [Settings.LogDir] means that an agent's runs are put on record nowhere but in the state directory.
const NoLogDir = "none"

// AskedModel as [Settings.RequireModel] stands for the model that the command line or the environment names, and if neither does, the agent itself at its start.
const AskedModel = "asked"
