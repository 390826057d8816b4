package faulttest

import (
	"fmt"
	"time"
)

// The commands that are played.
const (
	Claude   = "claude"
	Codex    = "codex"
	Gemini   = "gemini"
	Opencode = "opencode"
	Job      = "job" // one that nothing is known of
)

// cli is how a CLI is played.
type cli struct {
	name    string
	args    []string // that ask for something
	begin   func() []Op
	work    func(n, size int) []Op // the model at work with a tool, which prints so much
	success func(answer string) Fault
	faults  func(hint time.Duration, answer string) []Fault // after it has begun
	early   func(session string) []Fault                    // before a session has begun
	inner   func(n int, in Inner) Op                        // a retry inside of it; nil if it is not played
	session string                                          // the form of its session ids, of two numbers
	// answers says that a failure after an answer leaves a session behind in which the model has worked.
	answers bool
}

const uuidForm = "01990000-0000-7000-8%03x-%012x"

// clis are those that Belay knows. A further one is one more row.
var clis = []cli{
	{name: Claude, args: []string{Claude, "-p", "hi"}, begin: claudeInit, work: claudeWork, success: claudeSuccess, faults: claudeFaults, early: claudeEarly, inner: claudeRetry, session: uuidForm},
	{name: Codex, args: []string{Codex, "exec", "hi"}, begin: codexInit, work: codexWork, success: codexSuccess, faults: codexFaults, early: codexEarly, session: uuidForm, answers: true},
	{name: Gemini, args: []string{Gemini, "-p", "hi"}, begin: geminiInit, work: geminiWork, success: geminiSuccess, faults: geminiFaults, early: geminiEarly, session: uuidForm, answers: true},
	{name: Opencode, args: []string{Opencode, "run", "hi"}, begin: opencodeInit, work: opencodeWork, success: opencodeSuccess, faults: opencodeFaults, early: opencodeEarly,
		session: "ses_e1b%09x%014x", answers: true},
}

// played is how a CLI is played; nil for a job.
func played(name string) *cli {
	for i := range clis {
		if clis[i].name == name {
			return &clis[i]
		}
	}
	return nil
}

// Names are the commands that are played.
func Names() (names []string) {
	for i := range clis {
		names = append(names, clis[i].name)
	}
	return append(names, Job)
}

// Args is the command line of a run.
func (r *Run) Args() []string {
	if c := played(r.CLI); c != nil {
		return c.args
	}
	return []string{Job}
}

// SessionID is the nth session of a run.
func (r *Run) SessionID(n int) string {
	form := uuidForm
	if c := played(r.CLI); c != nil {
		form = c.session
	}
	return fmt.Sprintf(form, n&0xfff, r.Seed&0xffffffffffff)
}
