package config

import (
	"time"

	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/retry"
)

// Settings are the values in force for one run, in the groups of the table. What was not given anywhere keeps the zero value; see [Settings.From].
type Settings struct {
	Retries
	TimeLimits
	Retryable
	Input
	Results
	Shared
	Agents
	Checks
	Worktrees
	Ceilings
	Command
	FromFiles
	Unread []Unread // in the environment

	origins
	asked bool // the user's own layers ask for retries
}

// Retries are how often a command is repeated, and how long is waited before.
type Retries struct {
	Preset                       string
	MaxRetries                   int
	BaseDelay, MaxDelay, MaxWait time.Duration
	Factor                       float64
	Jitter                       retry.Jitter
	NoWait                       bool
	LimitBuffer                  time.Duration
}

// TimeLimits are how long a command may take.
type TimeLimits struct {
	Timeout, TotalTimeout, StallTimeout time.Duration
	RetryTimeouts                       int
}

// Retryable is which failures are repeated.
type Retryable struct {
	RetryOnExit               []int
	RetryOn, FailOn           string
	RetryUnsafe, VerifyEffect bool
}

// Input is what the command reads, and how its output is passed on.
type Input struct {
	Prompt, PromptFile   string
	NoStdin, ReplayStdin bool
	Stream               bool
}

// Results are what is said of a run, to whom, and where it is kept.
type Results struct {
	OutputFormat, ResultFile, ExitCodeOut string
	GitHub, Telemetry                     bool
	NoRecord, KeepPrompt, NoTail          bool
	NotifyAfter                           time.Duration
	Quiet, Verbose                        bool
	LogDir                                string
	Name                                  string
	Tags                                  map[string]string
}

// Shared are the limits that a command has in common with other processes.
type Shared struct {
	Gate, Scope, OnBusy               string
	NoGate                            bool
	MaxParallel                       int
	BreakerFailures, BreakerSuccesses int
	BreakerOpen                       time.Duration
}

// Agents are sessions, cost and models of agents.
type Agents struct {
	Resume, ResumeOrNew, ResumeInterrupted, ResumePrompt string
	HandOver                                             bool
	MaxResumeCost                                        float64
	NoResumeOnRetry                                      bool
	MaxCost                                              float64
	RequireModel                                         string
	Reserve                                              quota.Reserve
	Budgets                                              []budget.Joined
	Fallbacks                                            []Fallback
	FallbackAfterWork                                    bool
}

// Checks are what decides whether the work is done.
type Checks struct {
	Check, CheckPrompt string
	CheckRounds        int
	CheckTimeout       time.Duration
	CheckFirst         bool
}

// Worktrees are the trees that commands work in.
type Worktrees struct {
	Worktree                   string // what it is made from; empty for none
	WorktreeDir, WorktreeSetup string
	Land                       bool
}

// Ceilings are what an attempt may use at most.
type Ceilings struct {
	MaxMemory, MinFreeDisk int64
	MaxAgents, MaxRepeats  int
}

// Command is what is run, and where.
type Command struct {
	Profile, Cwd            string
	Reap, KeepAwake, DryRun bool
}

// FromFiles is what only files say.
type FromFiles struct {
	Alerts       alert.Config        // the user's file
	BudgetRules  map[string]Budget   // likewise
	FallbackArgs map[string][]string // likewise, by profile
	Prices       *price.Table        // likewise; nil if it has none
	AtMost       Bounds              // the project's file
	withoutEffect
}

// Bounds are limits that a project sets to what a CLI's profile may decide by itself. Zero bounds nothing.
type Bounds struct {
	Timeout, Stall time.Duration
	Starts         int // of a command, where throttles do not count as retries
}

// Budget is what the user's file says of a budget: its terms, and which runs belong to it without naming it. Of each list
// that is given, one entry must match; with none at all, only runs that name the budget belong to it.
type Budget struct {
	Terms       *budget.Terms // nil if no limit is given
	Reserve     quota.Reserve // what its runs leave of the limits of their accounts
	Profiles    []string
	Directories []string // with all below them
	Names       []string
	Tags        []string // KEY=VALUE
}

// Fallback is an agent that gets a request when the one before cannot take it.
type Fallback struct{ Profile, Model string }

// layer is a place that the user gives values in.
type layer int

const (
	inFile    layer = iota + 1 // the user's own
	inEnviron                  // a variable of Belay's, or of the CLI's
	inCommand                  // a flag
)

// origins are where values come from.
type origins struct {
	origin, raw map[string]string // where a value comes from, and how it is written there
	chosen      map[string]layer  // the nearest of the user's own layers that gives a value
}

func newOrigins() origins {
	return origins{origin: map[string]string{}, raw: map[string]string{}, chosen: map[string]layer{}}
}

// From says where a setting's value comes from; empty if it was not given anywhere.
func (o *origins) From(name string) string { return o.origin[name] }

// Chosen reports whether the user gives the setting a value: by a flag, in the environment or in the user's own file.
func (o *origins) Chosen(name string) bool { return o.chosen[name] != 0 }

// Any reports whether anything was given anywhere that says how the command is run. Labels and notifications do not, nor do fallbacks and a required
// model, which only agents have.
func (o *origins) Any() bool {
	for name := range o.origin {
		if name != "name" && name != "tag" && name != "notify-after" && name != "keep-awake" && name != "fallback" && name != "require-model" {
			return true
		}
	}
	return false
}

// Text is a setting's value as it was written.
func (o *origins) Text(name string) string { return o.raw[name] }

// choose notes a value that the user gives.
func (o *origins) choose(name, value, from string, in layer) {
	o.note(name, value, from)
	o.chosen[name] = in
}

// note remembers where a value comes from.
func (o *origins) note(name, value, from string) {
	o.origin[name], o.raw[name] = from, value
}
