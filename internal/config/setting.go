// Package config knows Belay's settings: their names, what they take, and where their values come from. A flag, an
// environment variable, a project's file, the user's file and a preset are layers of one table, and a value is read
// by the same function whichever layer it stands in.
package config

import (
	"fmt"
	"math"
	"regexp/syntax"
	"strconv"
	"strings"
	"time"

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
	Name  string // as a flag; the environment has BELAY_NAME, files have name with _
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

// Groups are the headings of the table, in order.
var Groups = []string{"How often and how long to wait", "How long it may take", "What is worth repeating",
	"Input and output", "Reporting", "Other"}

// Table holds every setting.
var Table = []Setting{
	{"max-retries", "N", "retries after the first attempt; 0 turns retrying off", Groups[0], Policy,
		number(func(s *Settings) *int { return &s.MaxRetries }, 0, 1_000_000)},
	{"preset", "NAME", "a named policy: " + strings.Join(retry.Presets(), ", "), Groups[0], Policy, setPreset},
	{"base-delay", "D", "wait before the first retry (1s)", Groups[0], Policy,
		duration(func(s *Settings) *time.Duration { return &s.BaseDelay })},
	{"max-delay", "D", "longest wait before a retry, hints aside (60s)", Groups[0], Policy,
		duration(func(s *Settings) *time.Duration { return &s.MaxDelay })},
	{"factor", "F", "what each delay is multiplied by (2)", Groups[0], Policy, setFactor},
	{"jitter", "KIND[:V]", "full, proportional:0.2, additive:0.25, plus:1s or none (full)", Groups[0], Policy, setJitter},
	{"max-wait", "D", "sum of all waits (5m)", Groups[0], Policy,
		duration(func(s *Settings) *time.Duration { return &s.MaxWait })},
	{"no-wait", "", "never wait: fail where a wait would be needed", Groups[0], User,
		boolean(func(s *Settings) *bool { return &s.NoWait })},

	{"timeout", "D", "hard deadline of an attempt (none)", Groups[1], Policy,
		duration(func(s *Settings) *time.Duration { return &s.Timeout })},
	{"total-timeout", "D", "hard deadline of everything, waits included (none)", Groups[1], Policy,
		duration(func(s *Settings) *time.Duration { return &s.TotalTimeout })},
	{"stall-timeout", "D", "end an attempt that prints nothing for so long (none)", Groups[1], Policy,
		duration(func(s *Settings) *time.Duration { return &s.StallTimeout })},
	{"retry-timeouts", "N", "how many attempts that ran into --timeout are repeated (0)", Groups[1], Policy,
		number(func(s *Settings) *int { return &s.RetryTimeouts }, 0, 1_000_000)},

	{"retry-on-exit", "CODES", "repeat only these exit codes, as 1,75 (128+n for signal n)", Groups[2], Policy, setCodes},
	{"retry-on", "REGEX", "repeat only failures whose output matches", Groups[2], User,
		pattern(func(s *Settings) *string { return &s.RetryOn })},
	{"fail-on", "REGEX", "output that matches is a failure, also with exit 0, and is not repeated", Groups[2], User,
		pattern(func(s *Settings) *string { return &s.FailOn })},

	{"prompt", "TEXT", "text for the command's stdin, the same for every attempt; - reads it from stdin", Groups[3], PerCall,
		text(func(s *Settings) *string { return &s.Prompt })},
	{"prompt-file", "FILE", "the same, from a file", Groups[3], PerCall,
		text(func(s *Settings) *string { return &s.PromptFile })},
	{"no-stdin", "", "the command reads nothing (for loops)", Groups[3], PerCall,
		boolean(func(s *Settings) *bool { return &s.NoStdin })},
	{"replay-stdin", "", "keep stdin and give it to every attempt", Groups[3], PerCall,
		boolean(func(s *Settings) *bool { return &s.ReplayStdin })},
	{"stream", "", "pass output on as it comes, that of failed attempts too", Groups[3], User,
		boolean(func(s *Settings) *bool { return &s.Stream })},

	{"output-format", "text|json", "replace the command's stdout by Belay's result", Groups[4], User,
		choice(func(s *Settings) *string { return &s.OutputFormat }, "text", "json")},
	{"result-file", "FILE", "write the result there as JSON", Groups[4], PerCall,
		text(func(s *Settings) *string { return &s.ResultFile })},
	{"exit-code", "child", "end with the command's own exit code wherever it has one", Groups[4], User,
		choice(func(s *Settings) *string { return &s.ExitCodeOut }, "child")},
	{"quiet", "", "say nothing but the final error", Groups[4], User,
		boolean(func(s *Settings) *bool { return &s.Quiet })},
	{"verbose", "", "say everything, show the stderr of failed attempts", Groups[4], User,
		boolean(func(s *Settings) *bool { return &s.Verbose })},

	{"profile", "NAME", "treat the command as this CLI: generic", Groups[5], PerCall,
		text(func(s *Settings) *string { return &s.Profile })},
	{"cwd", "DIR", "run the command there", Groups[5], PerCall,
		text(func(s *Settings) *string { return &s.Cwd })},
	{"reap", "", "also end what a successful command leaves running", Groups[5], User,
		boolean(func(s *Settings) *bool { return &s.Reap })},
	{"dry-run", "", "say what would be done, and do nothing", Groups[5], PerCall,
		boolean(func(s *Settings) *bool { return &s.DryRun })},
}

// Find returns the row for a name, nil if there is none.
func Find(name string) *Setting {
	for i := range Table {
		if Table[i].Name == name {
			return &Table[i]
		}
	}
	return nil
}

func number(at func(*Settings) *int, low, high int) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", v)
		}
		if n < low || n > high {
			return fmt.Errorf("%d is not between %d and %d", n, low, high)
		}
		*at(s) = n
		return nil
	}
}

func duration(at func(*Settings) *time.Duration) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		d, err := ParseDuration(v)
		*at(s) = d
		return err
	}
}

func boolean(at func(*Settings) *bool) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		switch strings.ToLower(v) {
		case "1", "true", "yes", "on":
			*at(s) = true
		case "", "0", "false", "no", "off":
			*at(s) = false
		default:
			return fmt.Errorf("%q is neither true nor false", v)
		}
		return nil
	}
}

func text(at func(*Settings) *string) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		*at(s) = v
		return nil
	}
}

func choice(at func(*Settings) *string, allowed ...string) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		for _, a := range allowed {
			if v == a {
				*at(s) = v
				return nil
			}
		}
		return fmt.Errorf("%q is not %s", v, strings.Join(allowed, " or "))
	}
}

func pattern(at func(*Settings) *string) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		if v == "" {
			return fmt.Errorf("an empty pattern matches everything")
		}
		if _, err := syntax.Parse(v, syntax.Perl); err != nil {
			return fmt.Errorf("%q is not a regular expression: %v", v, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
		*at(s) = v
		return nil
	}
}

func setPreset(s *Settings, v string) error {
	if _, ok := retry.Preset(v); !ok {
		return fmt.Errorf("there is no preset %q; there are %s", v, strings.Join(retry.Presets(), ", "))
	}
	s.Preset = v
	return nil
}

func setFactor(s *Settings, v string) error {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || math.IsNaN(f) || f < 1 || f > 1000 {
		return fmt.Errorf("%q is not a number between 1 and 1000", v)
	}
	s.Factor = f
	return nil
}

func setJitter(s *Settings, v string) error {
	j, err := retry.ParseJitter(v)
	s.Jitter = j
	return err
}

func setCodes(s *Settings, v string) error {
	s.RetryOnExit = nil
	for part := range strings.SplitSeq(v, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > 255 {
			return fmt.Errorf("%q is not an exit code from 1 to 255", part)
		}
		s.RetryOnExit = append(s.RetryOnExit, n)
	}
	return nil
}
