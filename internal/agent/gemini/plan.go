package gemini

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/agent"
)

// Plan implements [agent.Agent].
//
// What is added stands in front, and what it stands for is taken out of the line: gemini takes an option that it is given twice
// for a list, and stumbles over it.
func (p *Profile) Plan(t agent.Turn) (agent.Plan, error) {
	if p.line.Unknown != "" {
		return p.untouched(t)
	}
	byStdin := t.Continue
	own := p.prompt()
	var stdin []byte
	switch {
	case t.Continue:
		stdin = []byte(text(*t.Prompt))
	case t.Prompt != nil:
		stdin = agent.Join("\n\n", []byte(text(*t.Prompt)), t.Stdin)
	default:
		stdin = slices.Clone(t.Stdin)
	}
	if !byStdin && len(own) > agent.MaxArgument && len(stdin)+len(own)+2 <= MaxInput {
		// What gemini itself makes of both.
		stdin, byStdin = agent.Join("\n\n", stdin, []byte(own)), true
	}
	if len(stdin) > MaxInput {
		return agent.Plan{}, tooLarge(len(stdin))
	}
	replaces := p.showsEvents() && p.form() == agent.Text && !t.Plain
	dropped := func(a agent.Arg) bool {
		switch a.Name {
		case optFormat:
			return replaces
		case optResume, optID, optFile:
			return t.Session != ""
		case optPrompt:
			return byStdin || t.Prompt != nil && len(a.Values) == 0
		case "":
			return byStdin
		}
		return false
	}
	plan := agent.Plan{Stdin: stdin, Plain: !replaces && p.form() != agent.Stream}
	if t.Session != "" {
		plan.Added = append(plan.Added, optResume, t.Session)
	}
	if replaces {
		plan.Added = append(plan.Added, optFormat, "stream-json")
	}
	if p.form() == agent.JSON && t.Session == "" && !t.Plain && !p.line.Has(optResume) && !p.line.Has(optID) && !p.line.Has(optFile) {
		plan.Added = append(plan.Added, optID, agent.NewUUID()) // it tells its name only at the end
	}
	plan.Args = slices.Concat(p.args[:1], plan.Added, p.line.Without(dropped))
	return plan, nil
}

// untouched is the plan for a command line that is not understood. A prompt on stdin needs no change to it.
func (p *Profile) untouched(t agent.Turn) (agent.Plan, error) {
	stdin := t.Stdin
	if t.Prompt != nil {
		stdin = agent.Join("\n\n", []byte(text(*t.Prompt)), t.Stdin)
	}
	if len(stdin) > MaxInput {
		return agent.Plan{}, tooLarge(len(stdin))
	}
	return t.Untouched(Name, p.line.Unknown, p.args, stdin)
}

// text makes sure that a prompt is taken for text. One that begins with a slash would be a command.
func text(prompt string) string {
	if strings.HasPrefix(prompt, "/") {
		return "\n" + prompt
	}
	return prompt
}

func tooLarge(size int) error {
	return fmt.Errorf("the prompt has %d bytes and gemini reads %d on stdin; put the text in a file and name that file in the prompt", size, MaxInput)
}
