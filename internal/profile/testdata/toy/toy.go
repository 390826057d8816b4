// Package toy is the profile of an agent that exists only in a test: all that a further CLI needs beside its row in the
// registry. See docs/development.md.
package toy

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// Descriptor is what is known of toy.
var Descriptor = agent.Descriptor{
	Name:           "toy",
	New:            func(args, _ []string, _ string) agent.Profile { return &Profile{args} },
	Preset:         retry.Policy{MaxRetries: 2, BaseDelay: time.Millisecond, MaxDelay: 7 * time.Millisecond},
	Tested:         agent.Tested{"1.2.0"},
	Ask:            []string{"ask"},
	MaxInput:       1 << 10,
	IsSession:      func(id string) bool { return strings.HasPrefix(id, "ses_") && !strings.Contains(id, "/") },
	SessionExample: "ses_1",
	Variables:      []agent.Variable{{Name: "TOY_MAX_DELAY", Setting: "max-delay"}},
	HomeVar:        "TOY_HOME", HomeDir: ".toy",
	Install:   []agent.Install{{Command: "npm install -g toy"}},
	Login:     agent.Login{Command: "toy login", Variables: []string{"TOY_KEY"}, File: "key", None: "no key was found"},
	Rehearsal: agent.Rehearsal{Vendor: "anthropic", Ask: []string{"ask", "say hi"}},
}

// Profile is one command line of toy.
type Profile struct{ args []string }

func (p *Profile) Name() string         { return Descriptor.Name }
func (p *Profile) Headless() bool       { return len(p.args) > 1 && p.args[1] == "ask" }
func (p *Profile) Reads() bool          { return true }
func (p *Profile) Tested() agent.Tested { return Descriptor.Tested }

func (p *Profile) Judge(o verdict.Outcome, now time.Time) verdict.Verdict {
	return agent.Replay(&follower{}, o, now)
}

func (p *Profile) Info() agent.Info {
	return agent.Info{Gate: "toy:local", Provider: "toy", Ladder: supervise.Terminate, MaxInput: Descriptor.MaxInput, HasPrompt: true}
}

func (p *Profile) Plan(t agent.Turn) (agent.Plan, error) {
	plan := agent.Plan{Args: slices.Clone(p.args), Stdin: t.Stdin}
	if t.Session != "" {
		plan.Args = append(plan.Args, "--session", t.Session)
	}
	return plan, nil
}

func (p *Profile) Follow(agent.Plan) agent.Follower { return &follower{} }

// follower reads "session ID" and takes every other line for the answer.
type follower struct {
	session string
	answer  string
}

func (f *follower) Line(line agent.Line) agent.LineInfo {
	text := string(line.Text)
	if id, ok := strings.CutPrefix(text, "session "); ok {
		f.session = id
		return agent.LineInfo{}
	}
	f.answer = text
	return agent.LineInfo{Answered: true}
}

func (f *follower) Judge(o verdict.Outcome, _ time.Time) verdict.Verdict {
	v := verdict.Verdict{Class: verdict.Unknown, Rule: "toy.unknown", SessionID: f.session}
	switch o.ExitCode {
	case 0:
		v.Class, v.Rule = verdict.OK, "toy.ok"
	case 75:
		v.Class, v.Rule, v.Retryable = verdict.Overloaded, "toy.busy", true
	}
	return v
}

func (f *follower) Account() agent.Account {
	return agent.Account{Session: f.session, Active: f.answer != ""}
}

func (f *follower) Render(w io.Writer, _ agent.Form) error {
	_, err := io.WriteString(w, f.answer+"\n")
	return err
}

func (f *follower) Answer() agent.Answer { return agent.NewAnswer(agent.Line{}, "", f.answer) }
