// Package gh is the profile of GitHub's CLI.
//
// gh never tries again, waits for ever, has exit code 1 for everything, and prints the same line for "not sent" and for
// "done, but the answer was lost". What it does not say is in the trace that it writes with GH_DEBUG=api. So a command
// line of it is read by the CLI's own options (line.go, commands.go), an attempt is started with the trace on and the
// trace taken out of what the user sees (filter.go), and the outcome is judged by what was traced (trace.go, answer.go)
// and then by gh's words (words.go, rules.go).
//
// What it knows comes from the source and from real runs of 2.23 and 2.100.
package gh

import (
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// Name of the profile.
const Name = "gh"

// BreakerFailures is how many failures in a row open the breaker: GitHub often fails without being down.
const BreakerFailures = 10

// deadline is how long one or two short requests may take: gh itself gives a connection 30 seconds and an answer for ever.
const deadline = 30 * time.Second

// Profile knows one command line of gh.
type Profile struct {
	line line
	env  []string
	dir  string
}

// New returns the profile of a command line, args[0] being the command, that is started with that environment in that
// directory. Without args it judges the outcome of a command line that is not known.
func New(args []string, env []string, dir string) *Profile {
	p := &Profile{env: env, dir: dir}
	if len(args) > 0 {
		p.line = read(args[1:], dir)
	}
	return p
}

// Name implements agent.Profile.
func (p *Profile) Name() string { return Name }

// Headless implements agent.Profile. Not ours are commands that want a terminal or a browser, and those that gh itself
// does not have: extensions and aliases do what they like.
func (p *Profile) Headless() bool { return p.line.known && !p.line.interactive() }

// Reads implements agent.Profile.
func (p *Profile) Reads() bool { return true }

// Judge implements agent.Profile. The outcome may have a trace in it: a saved one is as gh wrote it.
func (p *Profile) Judge(o verdict.Outcome, now time.Time) verdict.Verdict {
	j := judgement{line: p.line, Outcome: o, now: now}
	j.readSaved()
	return j.verdict()
}

// CallerInfo implements agent.Caller.
func (p *Profile) CallerInfo() agent.CallerInfo {
	h := agent.CallerInfo{Gate: gateKey(p.line, p.env, p.dir), Provider: "github", Changes: p.line.changes(), CheckLimit: p.checkLimit, Tested: Descriptor.Tested}
	if _, err := p.line.finder(); err == nil {
		h.Verify = p.verify
	}
	if p.line.short() {
		h.Deadline = deadline
	}
	return h
}

// Listen implements agent.Caller.
func (p *Profile) Listen() agent.Listener { return newListener(p) }
