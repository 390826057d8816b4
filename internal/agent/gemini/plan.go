package gemini

import (
	"crypto/rand"
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
		stdin = join([]byte(text(*t.Prompt)), t.Stdin)
	default:
		stdin = slices.Clone(t.Stdin)
	}
	if !byStdin && len(own) > agent.MaxArgument && len(stdin)+len(own)+2 <= MaxInput {
		// What gemini itself makes of both.
		stdin, byStdin = join(stdin, []byte(own)), true
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
		plan.Added = append(plan.Added, optID, newID()) // it tells its name only at the end
	}
	plan.Args = slices.Concat(p.args[:1], plan.Added, p.line.Without(dropped))
	return plan, nil
}

// untouched is the plan for a command line that is not understood. A prompt on stdin needs no change to it.
func (p *Profile) untouched(t agent.Turn) (agent.Plan, error) {
	if t.Session != "" || t.Continue {
		return agent.Plan{}, fmt.Errorf("gemini's option %s is not known to belay, which therefore cannot resume the session", p.line.Unknown)
	}
	stdin := t.Stdin
	if t.Prompt != nil {
		stdin = join([]byte(text(*t.Prompt)), t.Stdin)
	}
	if len(stdin) > MaxInput {
		return agent.Plan{}, tooLarge(len(stdin))
	}
	return agent.Plan{Args: slices.Clone(p.args), Stdin: stdin, Plain: true}, nil
}

// newID is the name of a new session.
func newID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80 // a random UUID, version 4
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// text makes sure that a prompt is taken for text. One that begins with a slash would be a command.
func text(prompt string) string {
	if strings.HasPrefix(prompt, "/") {
		return "\n" + prompt
	}
	return prompt
}

// join puts two parts of a prompt together as gemini does. Nil if there is neither.
func join(first, second []byte) []byte {
	switch {
	case len(first) == 0:
		return slices.Clone(second)
	case len(second) == 0:
		return first
	}
	return slices.Concat(first, []byte("\n\n"), second)
}

func tooLarge(size int) error {
	return fmt.Errorf("the prompt has %d bytes and gemini reads %d on stdin; put the text in a file and name that file in the prompt", size, MaxInput)
}
