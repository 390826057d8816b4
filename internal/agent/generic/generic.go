// Package generic is the profile of commands that Belay knows nothing about. Nothing is repeated unless the caller
// asks for it, and the caller says what is worth repeating.
package generic

import (
	"fmt"
	"slices"
	"time"

	"github.com/belay-run/belay/internal/signame"
	"github.com/belay-run/belay/verdict"
)

// Name of the profile.
const Name = "generic"

// FailOn is the name of the rule that Options.FailOn makes.
const FailOn = "fail-on"

// Options are what the caller knows of the command. With none of them every failure is unknown and not worth
// repeating.
type Options struct {
	// Retry makes every failure worth repeating, unless RetryExit or RetryOn narrow it.
	Retry bool
	// RetryExit and RetryOn say which failures are worth repeating: by exit code (128+n for signal n), or by what
	// either stream says, as a regular expression.
	RetryExit []int
	RetryOn   string
	// FailOn, found in either stream, makes it a failure that is not worth repeating, whatever the exit code.
	FailOn string
	// Rules are asked before anything else.
	Rules []verdict.Rule
}

// Profile judges by exit code and by what the caller knows of the command.
type Profile struct {
	options Options
	first   *verdict.Rules // the caller's, and FailOn
	retryOn *verdict.Rules
}

// New returns the profile for a command. The error names the pattern or the rule that is wrong.
func New(o Options) (*Profile, error) {
	p := &Profile{options: o}
	no, yes := false, true
	first := o.Rules
	if o.FailOn != "" {
		first = append(slices.Clone(first),
			verdict.Rule{Name: FailOn, Class: verdict.Unknown, Match: o.FailOn, AnyExit: true, Retryable: &no})
	}
	var err error
	if len(first) > 0 {
		if p.first, err = verdict.Compile(first...); err != nil {
			return nil, err
		}
	}
	if o.RetryOn != "" {
		p.retryOn, err = verdict.Compile(verdict.Rule{Name: "retry-on", Class: verdict.Unknown, Match: o.RetryOn, Retryable: &yes})
	}
	return p, err
}

// Name implements agent.Profile.
func (p *Profile) Name() string { return Name }

// Headless implements agent.Profile: a generic command may want the terminal.
func (p *Profile) Headless() bool { return false }

// Reads implements agent.Profile.
func (p *Profile) Reads() bool { return p.first != nil || p.retryOn != nil }

// Judge implements agent.Profile.
func (p *Profile) Judge(o verdict.Outcome, now time.Time) verdict.Verdict {
	if v, ok := p.first.Judge(o, now); ok {
		return v
	}
	code := o.ExitCode
	if n := signame.Number(o.Signal); n > 0 {
		code = 128 + n
	}
	asked := slices.Contains(p.options.RetryExit, code)
	switch {
	case code == 0:
		return verdict.Verdict{Class: verdict.OK, Rule: "exit-0"}
	case !asked && interrupted(o):
		return verdict.Verdict{Class: verdict.Interrupted, Rule: "interrupted", Evidence: endOf(o)}
	}
	v := verdict.Verdict{Class: verdict.Unknown, Rule: "exit-code", Evidence: verdict.LastWords(o)}
	matched, ok := p.retryOn.Judge(o, now)
	switch {
	case ok:
		v = matched
	case asked:
		v.Retryable, v.Rule = true, "retry-on-exit"
	case p.options.Retry && p.retryOn == nil && len(p.options.RetryExit) == 0:
		v.Retryable = true
	}
	if o.Signal != "" {
		v.Class = verdict.Crash
	}
	if v.Evidence == "" {
		v.Evidence = endOf(o)
	}
	if v.Retryable {
		v.Hint = verdict.HintOf(o, now)
	}
	// The class of a failure that is repeated says how it is waited for: a throttle by its limit, the rest by count. The same words are of the same class where
	// nothing is repeated.
	if kind, ok := verdict.LastResort(o, now); ok && kind.Retryable && o.Signal == "" {
		v.Class, v.Evidence = kind.Class, kind.Evidence
	}
	return v
}

// Overrule is the verdict of another profile with what the caller knows of the command over it: the caller's rules are
// asked first, and what the profile does not know is worth repeating if the caller says so.
func (p *Profile) Overrule(own verdict.Verdict, o verdict.Outcome, now time.Time) verdict.Verdict {
	said, ok := p.first.Judge(o, now)
	if !ok && own.Class == verdict.Unknown {
		said = p.Judge(o, now)
		ok = said.Retryable
	}
	if !ok {
		return own
	}
	said.SessionID, said.Usage, said.Sent = own.SessionID, own.Usage, own.Sent
	return said
}

// interrupted reports whether the command was told to end: by one of three signals, also as the exit codes of programs
// that clean up first.
func interrupted(o verdict.Outcome) bool {
	switch o.Signal {
	case "SIGINT", "SIGTERM", "SIGHUP":
		return true
	case "":
		return o.ExitCode == 129 || o.ExitCode == 130 || o.ExitCode == 143
	}
	return false
}

// endOf says how the command ended.
func endOf(o verdict.Outcome) string {
	if o.Signal != "" {
		return "ended by " + o.Signal
	}
	return fmt.Sprintf("exit %d", o.ExitCode)
}
