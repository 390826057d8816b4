// Package config knows Belay's settings: their names, what they take, and where their values come from. A flag, an
// environment variable, a project's file, the user's file and a preset are layers of one table, and a value is read
// by the same function whichever layer it stands in.
package config

import (
	"strings"
	"time"

	"github.com/belay-run/belay/internal/alert"
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
	Gate, Scope, OnBusy                   string
	MaxParallel                           int
	NoGate                                bool
	BreakerFailures, BreakerSuccesses     int
	BreakerOpen                           time.Duration
	Resume, ResumeOrNew, ResumePrompt     string
	NoResumeOnRetry                       bool
	MaxCost                               float64
	LogDir                                string
	RetryUnsafe, VerifyEffect             bool
	LimitBuffer                           time.Duration
	Alerts                                alert.Config // the user's file only
	Unread                                []Unread     // in the environment

	origin, raw map[string]string // where a value comes from, and how it is written there
}

// From says where a setting's value comes from; empty if it was not given anywhere.
func (s *Settings) From(name string) string { return s.origin[name] }

// Any reports whether anything was given anywhere.
func (s *Settings) Any() bool { return len(s.origin) > 0 }

// Text is a setting's value as it was written.
func (s *Settings) Text(name string) string { return s.raw[name] }

// Scope says which layers may hold a setting.
type Scope int

const (
	PerCall Scope = iota // a flag only
	User                 // also the environment and the user's own file
	Policy               // also a project's file: numbers and presets, which a cloned repository may well suggest
)

// Setting is one row of the table.
type Setting struct {
	Name  string // as a flag; the environment has BELAY_NAME, files have name with _; see also aliases
	Arg   string // what it takes, for the help; empty for a switch
	Usage string
	Group string
	Scope Scope
	set   func(*Settings, string) error
}

// Env is the environment variable of the setting.
func (s *Setting) Env() string {
	return "BELAY_" + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
}

// Key is the setting's key in a file.
func (s *Setting) Key() string { return strings.ReplaceAll(s.Name, "-", "_") }

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
