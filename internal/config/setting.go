// Package config knows Belay's settings: their names, what they take, and where their values come from. A flag, an
// environment variable, a project's file, the user's file and a preset are layers of one table, and a value is read
// by the same function whichever layer it stands in. A project's file is not trusted: [Scope] says what it may do.
package config

import (
	"strings"
	"time"

	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/retry"
)

// Settings are the values in force for one run. What was not given anywhere keeps the zero value; see [Settings.From].
type Settings struct {
	Profile, Preset                       string
	MaxRetries, RetryTimeouts             int
	BaseDelay, MaxDelay, MaxWait          time.Duration
	Timeout, TotalTimeout, StallTimeout   time.Duration
	Factor                                float64
	Jitter                                retry.Jitter
	NoWait                                bool
	RetryOnExit                           []int
	RetryOn, FailOn                       string
	Prompt, PromptFile                    string
	NoStdin, ReplayStdin                  bool
	Cwd                                   string
	Reap, Stream, DryRun, Quiet, Verbose  bool
	OutputFormat, ResultFile, ExitCodeOut string
	GitHub, Telemetry, NoRecord           bool
	KeepAwake                             bool
	NotifyAfter                           time.Duration
	Gate, Scope, OnBusy                   string
	MaxParallel                           int
	NoGate                                bool
	BreakerFailures, BreakerSuccesses     int
	BreakerOpen                           time.Duration
	Resume, ResumeOrNew, ResumePrompt     string
	ResumeInterrupted                     string
	NoResumeOnRetry                       bool
	MaxCost                               float64
	RequireModel                          string
	Reserve                               quota.Reserve
	MaxMemory, MinFreeDisk                int64
	MaxAgents, MaxRepeats                 int
	Budgets                               []budget.Joined
	Fallbacks                             []Fallback
	FallbackAfterWork                     bool
	Check, CheckPrompt                    string
	CheckRounds                           int
	CheckTimeout                          time.Duration
	CheckFirst                            bool
	LogDir                                string
	Name                                  string
	Tags                                  map[string]string
	RetryUnsafe, VerifyEffect             bool
	LimitBuffer                           time.Duration
	Alerts                                alert.Config        // the user's file only
	BudgetRules                           map[string]Budget   // likewise
	FallbackArgs                          map[string][]string // likewise, by profile
	Prices                                *price.Table        // the user's file only; nil if it has none
	Unread                                []Unread            // in the environment
	AtMost                                Bounds              // the project's file only
	Ignored                               []Ignored           // in the project's file

	origin, raw map[string]string // where a value comes from, and how it is written there
	chosen      map[string]layer  // the nearest of the user's own layers that gives a value
	asked       bool              // the user's own layers ask for retries
}

// Bounds are limits that a project sets to what a CLI's profile may decide by itself. Zero bounds nothing.
type Bounds struct {
	Timeout, Stall time.Duration
	Starts         int // of a command, where throttles do not count as retries
}

// From says where a setting's value comes from; empty if it was not given anywhere.
func (s *Settings) From(name string) string { return s.origin[name] }

// Chosen reports whether the user gives the setting a value: by a flag, in the environment or in the user's own file.
func (s *Settings) Chosen(name string) bool { return s.chosen[name] != 0 }

// OnlyAttempt reports whether the user has set the number of attempts, by a variable that counts them, to one. Then its failure means that all attempts are
// used up, while no retries at all (--max-retries 0) means that the user has a loop of their own.
func (s *Settings) OnlyAttempt() bool {
	if s.MaxRetries > 0 {
		return false
	}
	for _, cli := range profile.All() {
		for _, v := range cli.Variables {
			if v.Name == s.From("max-retries") && v.Convert != nil {
				return true
			}
		}
	}
	return false
}

// Any reports whether anything was given anywhere that says how the command is run. Labels and notifications do not, nor do fallbacks and a required
// model, which only agents have.
func (s *Settings) Any() bool {
	for name := range s.origin {
		if name != "name" && name != "tag" && name != "notify-after" && name != "keep-awake" && name != "fallback" && name != "require-model" {
			return true
		}
	}
	return false
}

// Text is a setting's value as it was written.
func (s *Settings) Text(name string) string { return s.raw[name] }

// Scope says which layers may hold a setting, and what a project's file and a job of a fleet may do with it. Such a file comes with a repository,
// whose authors the user need not know: it may bound a command and slow it down, and never switch on or off what the user
// asks for. A setting that is not certain to do no more than that is User. A job comes from another machine, with a command of its own: it may say how that is run,
// as far as the user of this machine has not: see [UserSettings.Job].
type Scope int

const (
	PerCall   Scope = iota // a flag only
	CallOrJob              // likewise, and a job may give it
	User                   // also the environment and the user's own file
	UserOrJob              // likewise, and a job may give it where the user does not
	Lower                  // also a project's file and a job, which may only lower it
	Raise                  // also a project's file and a job, which may only raise it
	Narrow                 // also a project's file, where each of the values that it stands for is lowered or raised as if it were set itself, and a job
)

// ForFlag reports whether only a flag may hold the setting.
func (s *Setting) ForFlag() bool { return s.Scope <= CallOrJob }

// Where says which layers may hold the setting.
func (s *Setting) Where() string {
	switch s.Scope {
	case PerCall, CallOrJob:
		return "flag"
	case Lower:
		return "flag, env, user, project (only lower)"
	case Raise:
		return "flag, env, user, project (only higher)"
	case Narrow:
		return "flag, env, user, project (only what is stricter)"
	}
	return "flag, env, user"
}

// Setting is one row of the table.
type Setting struct {
	Name  string // as a flag; the environment has BELAY_NAME, files have name with _; see also aliases
	Arg   string // what it takes, for the help; empty for a switch
	usage string
	Group string
	Scope Scope
	value reader
}

// Usage says what it does.
func (s *Setting) Usage() string {
	if !strings.Contains(s.usage, "{") {
		return s.usage
	}
	return strings.NewReplacer("{presets}", strings.Join(profile.Presets(), ", "), "{profiles}", profile.Or(Profiles())).Replace(s.usage)
}

func (s *Setting) set(to *Settings, text string) error { return s.value.read(to, text) }

// Bare reports whether the flag stands without a value: a switch, or one whose value may be left out and is never the next argument.
func (s *Setting) Bare() bool { return s.Arg == "" || s.Arg[0] == '[' }

// Env is the environment variable of the setting.
func (s *Setting) Env() string {
	return "BELAY_" + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
}

// Key is the setting's key in a file.
func (s *Setting) Key() string { return strings.ReplaceAll(s.Name, "-", "_") }

// repeats reports whether the flag may be given several times, each with one more value.
func (s *Setting) repeats() bool {
	return s.Name == "budget" || s.Name == "fallback" || s.Name == "tag"
}

// Check reports whether text is a value for the setting.
func (s *Setting) Check(text string) error { return s.set(new(Settings), text) }

// Find returns the row for a name, nil if there is none.
func Find(name string) *Setting {
	for i := range Table {
		if Table[i].Name == name {
			return &Table[i]
		}
	}
	return nil
}
