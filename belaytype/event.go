package belaytype

import (
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/verdict"
)

// Event is what happens while a command is run: one of the types below, and no other. Fields, and types, may be added.
type Event interface{ event() }

// AttemptStarted says that a process runs.
type AttemptStarted struct {
	Attempt int
	Command string
	PID     int
	Held    bool // its output is held back until it counts
}

// AttemptFailed says how an attempt ended that did not count. Its standard error can be shown.
type AttemptFailed struct {
	Attempt int
	Verdict verdict.Verdict
	Message string // what happened, in one line
	Stderr  *Output
	// Round is the number of the round, of so many, in which an agent is told at once that its work is not done; else 0.
	Round, Of int
	// Renewed says that the login of an agent was not accepted, but has been renewed meanwhile: the next attempt comes at once.
	Renewed bool
}

// Waiting says that the next attempt comes at Until.
type Waiting struct {
	Attempt int // the one that failed
	Retry   int // the number of the retry to come
	Of      int // how many there may be; 0 if that is not counted
	Verdict verdict.Verdict
	Message string // what happened, in one line
	Wait    time.Duration
	Until   time.Time
	Resume  string // what it then costs to continue the session, in words; empty if that is no more than usual
}

// AtGate says that the gate does not let it start yet.
type AtGate struct {
	Key     string
	Refusal gate.Refusal
}

// ScopeBusy says that another run has the scope.
type ScopeBusy struct {
	Key     string
	Holders []string // ids of runs
	// Replaced says that they have been asked to end.
	Replaced bool
}

// GateTrouble says what a gate could not do. The work goes on without it; where a damaged file was set aside, the gate
// begins anew.
type GateTrouble struct {
	Key string
	Err error
}

// WaitOver says that a wait has ended. CutShort says that what was waited for has not come: the run was stopped, or may not wait any longer.
type WaitOver struct{ CutShort bool }

// Stopping says that the command is being stopped, and why.
type Stopping struct{ Reason string }

// LeftRunning says what a command has left running after it ended by itself.
type LeftRunning struct{ Processes []Process }

// Reclaimed says which processes of a killed Belay were ended.
type Reclaimed struct{ Processes []Process }

// StateTrouble says that log and run records cannot be kept. The work goes on; Without is what was asked for and is
// therefore not in force: a gate, a scope.
type StateTrouble struct {
	Err     error
	Without []string
}

// ScopeTrouble says that a scope could not be entered, so that others may run beside this one. The work goes on.
type ScopeTrouble struct {
	Key string
	Err error
}

// GateFailing says that the calls through a gate have failed so often in a row that its breaker is about to open.
type GateFailing struct {
	Key          string
	Failures, Of int
}

// LogLarge says that the log has grown past 100 MiB; Own that it is the one that scripts around an agent expect.
type LogLarge struct {
	Path string
	Own  bool
}

// InnerRetry says that an agent tries again by itself. It counts as a retry; Ended says that there was no room for it and
// the attempt is being stopped.
type InnerRetry struct {
	Attempt int
	Verdict verdict.Verdict
	Wait    time.Duration
	Ended   bool
}

// SessionGone says that a session cannot be resumed and a new one is begun: it no longer exists, or for the reason that is given. Repaired is the
// copy of it that is resumed in its place; empty if there is none.
type SessionGone struct{ ID, Why, Repaired string }

// Plain says that the CLI did not take an option that was added to its command line, and is started as the caller wrote
// it.
type Plain struct{ Option string }

// UnknownOption says that the command line has an option that the profile does not know. It is started as the caller wrote
// it, and only its exit code and text are read.
type UnknownOption struct{ Option string }

// UntestedVersion says that the CLI is of a version that its profile is not tested with. It is said once.
type UntestedVersion struct {
	Version  string
	Standing string // how it stands to those that are tested, in words
}

// ModelSubstitution says that another model works on the request than the one that was asked for, in the main thread of an agent. It is said once.
type ModelSubstitution struct {
	Asked string `json:"asked"`
	Used  string `json:"used"`
}

// StdinSilent says that nothing came on stdin for so long, and whether it is still waited for.
type StdinSilent struct {
	For     time.Duration
	Awaited bool
}

// OwnLogTrouble says that the log that scripts around an agent expect could not be written. Asked says that the caller
// has named its directory.
type OwnLogTrouble struct {
	Dir   string
	Err   error
	Asked bool
}

// FoundDone says that a failed attempt has done what it was to do, as was found out afterwards. Output is what it would have
// printed.
type FoundDone struct{ Output string }

// AlertRaised says that an integration fails again and again. It is said once an episode.
type AlertRaised struct {
	Integration string
	Failures    int
	Within      time.Duration
	Last        string
}

// CostNotice says what there is to know of a limit on cost: that of belay.Runner.MaxCost, or of a budget of the run around this
// one. The work goes on.
type CostNotice struct {
	// Budget is the name of the budget; empty for what a run may cost.
	Budget string
	// Spent is most of the Limit, in US dollars; both are 0 if there is something else to say.
	Spent, Limit float64
	// Unknown says that the cost of an attempt is not known, and not in the sum.
	Unknown bool
	// Err is why the limit is not in force for this run; nil if it is.
	Err error
}

// Checking says that the work of an attempt is being checked. AttemptFailed follows if it is not done and there is another round.
type Checking struct {
	Attempt   int    // 0 before the first
	Round, Of int    // how often an agent was told that it is not done, and how often it may be
	Command   string // for the shell; empty for a function
}

// FellBack says that the request goes to a fallback now, because the agent before it cannot take it for the time being.
type FellBack struct {
	// From is the command that could not take it, To the fallback: "codex", "claude:sonnet".
	From, To string
	// Verdict is why; Until when From may be free again, zero if that is not known.
	Verdict verdict.Verdict
	Until   time.Time
}

// FallbackSkipped says that a fallback is not asked though its turn has come, and why.
type FallbackSkipped struct {
	Fallback string
	Why      string
}

// AgentEvent is a line that an agent has printed: a piece of JSON in the CLI's own words.
type AgentEvent struct {
	Attempt int
	Line    []byte
}

// Missed says that a reader of belay.Invocation.Events has missed lines because it did not keep up.
type Missed struct{ Lines int }

// Process is a process that a command has left running.
type Process struct {
	PID  int
	Name string
}

func (AttemptStarted) event()    {}
func (AttemptFailed) event()     {}
func (Waiting) event()           {}
func (AtGate) event()            {}
func (ScopeBusy) event()         {}
func (GateTrouble) event()       {}
func (WaitOver) event()          {}
func (Stopping) event()          {}
func (LeftRunning) event()       {}
func (Reclaimed) event()         {}
func (StateTrouble) event()      {}
func (ScopeTrouble) event()      {}
func (GateFailing) event()       {}
func (LogLarge) event()          {}
func (InnerRetry) event()        {}
func (SessionGone) event()       {}
func (Plain) event()             {}
func (UnknownOption) event()     {}
func (UntestedVersion) event()   {}
func (ModelSubstitution) event() {}
func (StdinSilent) event()       {}
func (OwnLogTrouble) event()     {}
func (FoundDone) event()         {}
func (AlertRaised) event()       {}
func (CostNotice) event()        {}
func (FellBack) event()          {}
func (Checking) event()          {}
func (FallbackSkipped) event()   {}
func (AgentEvent) event()        {}
func (Missed) event()            {}
