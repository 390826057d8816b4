package custom

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/agent"
)

// Plan implements [agent.Agent]. What is added stands right behind the command, and what it stands for is taken out of the line.
func (p *Profile) Plan(t agent.Turn) (agent.Plan, error) {
	if p.line.Unknown != "" || p.afterCommand() < 0 {
		return p.untouched(t)
	}
	d := p.def
	if t.Session != "" && len(d.Session.Resume) == 0 {
		return agent.Plan{}, fmt.Errorf("the profile %s does not say how a session is resumed", d.Name)
	}
	prompt, replaced, stdin := p.ask(t)
	if most := d.Prompt.MaxStdin; most > 0 && int64(len(stdin)) > most {
		return agent.Plan{}, fmt.Errorf("the prompt has %d bytes and %s reads %d on stdin; put the text in a file and name that file in the prompt", len(stdin), d.Name, most)
	}
	replaces := p.showsEvents() && !t.Plain
	plan := agent.Plan{Stdin: stdin, Plain: !replaces && p.form() != agent.Stream}
	if replaces {
		plan.Added = append(plan.Added, d.Output.Events...)
	}
	switch {
	case t.Session != "":
		plan.Added = append(plan.Added, withSession(d.Session.Resume, t.Session)...)
	case len(d.Session.New) > 0 && !t.Plain && !p.choosesSession():
		plan.Added = append(plan.Added, withSession(d.Session.New, agent.NewUUID())...)
	}
	dropped := func(a agent.Arg) bool {
		switch {
		case a.Name == "":
			return replaced && p.isPromptWord(a)
		case p.givesPrompt(a.Name):
			return replaced
		case t.Session != "" && p.isSessionOption(a.Name):
			return true
		case replaces:
			return a.Name == d.option(d.Output.Events[0])
		}
		return false
	}
	at := p.afterCommand()
	for _, a := range p.line.Read {
		if a.To <= p.afterCommand() && dropped(a) {
			at -= a.To - a.From
		}
	}
	rest := p.line.Without(dropped)
	plan.Args = slices.Concat(p.args[:1], rest[:at], plan.Added)
	if prompt != nil && d.Prompt.Option != "" {
		plan.Args = append(plan.Args, d.Prompt.Option, *prompt)
	}
	plan.Args = append(plan.Args, rest[at:]...)
	if prompt != nil && d.Prompt.Option == "" {
		if p.line.Dashes < 0 && strings.HasPrefix(*prompt, "-") {
			plan.Args = append(plan.Args, "--")
		}
		plan.Args = append(plan.Args, *prompt)
	}
	return plan, nil
}

// ask says how the prompt is given: as an argument of ours, in place of the command line's own, or on stdin.
func (p *Profile) ask(t agent.Turn) (prompt *string, replaced bool, stdin []byte) {
	how := &p.def.Prompt
	own := p.prompt()
	if t.Continue {
		own = ""
	} else {
		stdin = slices.Clone(t.Stdin)
	}
	switch {
	case t.Prompt != nil && how.Stdin == Unread:
		whole := string(agent.Join("\n\n", []byte(how.text(*t.Prompt)), []byte(own)))
		return &whole, true, nil
	case t.Prompt != nil:
		stdin = agent.Join("\n\n", []byte(how.text(*t.Prompt)), stdin)
		replaced = own == "" || how.Stdin == Alone // an option without its value is of no use
	case how.Stdin == Joined && len(own) > agent.MaxArgument:
		replaced = how.MaxStdin == 0 || int64(len(own)+len(stdin)+2) <= how.MaxStdin
	case how.Stdin == Alone && len(own) > agent.MaxArgument && (how.MaxStdin == 0 || int64(len(own)) <= how.MaxStdin):
		return nil, true, []byte(own) // what is on stdin besides, it does not read
	}
	if replaced {
		stdin = agent.Join("\n\n", stdin, []byte(own))
	}
	return nil, replaced, stdin
}

// untouched is the plan for a command line that is not understood. A prompt on stdin needs no change to it.
func (p *Profile) untouched(t agent.Turn) (agent.Plan, error) {
	if t.Session != "" || t.Continue {
		if p.line.Unknown == "" {
			return agent.Plan{}, errors.New("the command line is not one that its profile says how to resume")
		}
		return agent.Plan{}, fmt.Errorf("the option %s is not in the profile %s, and so the session cannot be resumed", p.line.Unknown, p.def.Name)
	}
	stdin := t.Stdin
	if t.Prompt != nil {
		stdin = agent.Join("\n\n", []byte(p.def.Prompt.text(*t.Prompt)), t.Stdin)
	}
	return agent.Plan{Args: slices.Clone(p.args), Stdin: stdin, Plain: p.form() != agent.Stream}, nil
}

// choosesSession reports whether the command line does.
func (p *Profile) choosesSession() bool {
	return slices.ContainsFunc(p.line.Read, func(a agent.Arg) bool { return p.isSessionOption(a.Name) })
}

func (p *Profile) isSessionOption(name string) bool { return p.isOneOf(name, p.def.Session.Options...) }

// givesPrompt reports whether an option of the command line does.
func (p *Profile) givesPrompt(name string) bool {
	return p.isOneOf(name, p.def.Prompt.Option) || p.isOneOf(name, p.def.Prompt.Others...)
}

func (p *Profile) isOneOf(name string, options ...string) bool {
	return name != "" && slices.ContainsFunc(options, func(o string) bool { return p.def.option(o) == name })
}

// withSession puts an id in its place.
func withSession(args []string, id string) []string {
	filled := make([]string, len(args))
	for i, a := range args {
		filled[i] = strings.ReplaceAll(a, sessionMark, id)
	}
	return filled
}
