package opencode

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/belay-run/belay/internal/agent"
)

// maxInput is the most that can reach a service in one request. opencode itself has no limit.
const maxInput = 32 << 20

// Plan implements agent.Agent.
//
// It adds --format json, right after run, and --print-logs: without its log opencode says nothing of what it tries again by
// itself, which it may do for ever. A prompt that is long, or did not come as an argument, is read from stdin.
func (p *Profile) Plan(t agent.Turn) (agent.Plan, error) {
	l := &p.line
	if l.run.Unknown != "" || !p.headless {
		plan, err := t.Untouched(Name, l.run.Unknown, p.args, t.Input("\n"))
		plan.Env = p.environ()
		return plan, err
	}
	if t.Session != "" && !isSession(t.Session) {
		return agent.Plan{}, fmt.Errorf("%q is not a session of opencode: its sessions have names such as %s", t.Session, sessionExample)
	}
	if t.Continue && t.Session == "" && !l.goesOn() {
		return agent.Plan{}, errors.New("opencode has no session to continue")
	}
	message := l.message()
	var stdin []byte
	switch {
	case t.Continue:
		message, stdin = "", []byte(*t.Prompt)
	default:
		stdin = t.Input("\n")
	}
	byStdin := t.Continue || len(message) > agent.MaxArgument
	if byStdin && message != "" {
		stdin = agent.Join("\n", []byte(message), stdin)
	}
	if len(stdin) > maxInput {
		return agent.Plan{}, fmt.Errorf("the prompt has %d bytes and opencode gets at most %d; put the text in a file and name that in the prompt", len(stdin), maxInput)
	}
	plan := agent.Plan{Env: p.environ(), Stdin: stdin, Plain: t.Plain && p.form() == agent.Text}
	if !t.Plain {
		if p.form() == agent.Text {
			plan.Added = append(plan.Added, optFormat, "json")
		}
		if !l.has(optLogs) {
			plan.Added = append(plan.Added, optLogs)
		}
	}
	if t.Session != "" {
		plan.Added = append(plan.Added, optSession, t.Session)
	}
	rest := l.run.Without(func(a agent.Arg) bool {
		switch a.Name {
		case "":
			return byStdin
		case optFormat:
			return !t.Plain && p.form() == agent.Text // given twice it would be a list
		case optSession, optContinue:
			return t.Session != ""
		case optFork:
			return t.Continue
		case optCommand, optFile: // which the session knows
			return t.Continue
		}
		return false
	})
	plan.Args = slices.Concat([]string{p.args[0]}, l.root.Args, []string{"run"}, plan.Added, rest)
	return plan, nil
}

// environ are the settings that opencode gets: it believes the environment in which directory it is, not the system.
func (p *Profile) environ() []string {
	if p.dir == "" {
		return nil
	}
	dir, err := filepath.Abs(p.dir)
	if err != nil {
		return nil
	}
	return []string{"PWD=" + dir}
}
