package claude

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-run/belay/internal/agent"
)

// Plan implements [agent.Agent].
func (p *Profile) Plan(t agent.Turn) (agent.Plan, error) {
	if len(t.Stdin) > MaxInput {
		return agent.Plan{}, tooLarge(len(t.Stdin))
	}
	if p.conversation() {
		plan, err := p.planPlain(t)
		plan.Plain = false // the caller has asked for events
		return plan, err
	}
	if t.Plain || p.plain() {
		return p.planPlain(t)
	}
	caps, err := p.caps(t)
	if err != nil {
		return agent.Plan{}, err
	}
	plan := agent.Plan{Env: p.environ(t)}
	prompt, words := p.prompt()
	dropped := func(a agent.Arg) bool {
		switch a.Name {
		case "--output-format":
			return true
		case "-r", "-c", "--session-id", "--fork-session":
			return t.Session != ""
		case "--max-turns", "--max-budget-usd":
			return caps != nil
		}
		return false
	}
	stdin := slices.Clone(t.Stdin)
	switch {
	case t.Continue:
		stdin, prompt = []byte(*t.Prompt), ""
	case t.Prompt != nil:
		stdin = append([]byte(text(*t.Prompt, prompt)), stdin...)
	}
	if len(prompt) > agent.MaxArgument || t.Continue && words != nil {
		// What claude itself makes of both: the argument, a line's end, the input.
		switch {
		case prompt != "" && len(stdin) > 0:
			stdin = append([]byte(prompt+"\n"), stdin...)
		case prompt != "":
			stdin = []byte(prompt)
		}
		rest := dropped
		dropped = func(a agent.Arg) bool { return rest(a) || a.Name == "" }
	}
	if len(stdin) > MaxInput {
		return agent.Plan{}, tooLarge(len(stdin))
	}
	plan.Stdin = stdin
	if t.Session != "" {
		plan.Added = append(plan.Added, "--resume", t.Session)
	}
	for _, flag := range []string{"--verbose", "--include-partial-messages"} {
		if !p.line.Has(flag) {
			plan.Added = append(plan.Added, flag)
		}
	}
	plan.Added = append(plan.Added, caps...)
	// In front, where no option that takes every word that follows can take them; and last one that takes exactly one.
	plan.Added = append(plan.Added, "--output-format", "stream-json")
	plan.Args = append(append([]string{p.args[0]}, plan.Added...), p.line.Without(dropped)...)
	return plan, nil
}

// caps are the options that bound a whole run, less what the attempts before have used. Nil leaves them as they are.
func (p *Profile) caps(t agent.Turn) (caps []string, err error) {
	if t.Turns == 0 && t.Spent == 0 {
		return nil, nil
	}
	caps = []string{}
	if n, err := strconv.Atoi(p.line.Value("--max-turns")); err == nil {
		if n -= t.Turns; n < 1 {
			return nil, &agent.UsedUp{Option: "--max-turns"}
		}
		caps = append(caps, "--max-turns", strconv.Itoa(n))
	}
	if usd, err := strconv.ParseFloat(p.line.Value("--max-budget-usd"), 64); err == nil {
		if usd -= t.Spent; usd <= 0 {
			return nil, &agent.UsedUp{Option: "--max-budget-usd"}
		}
		caps = append(caps, "--max-budget-usd", strconv.FormatFloat(usd, 'f', -1, 64))
	}
	return caps, nil
}

// planPlain starts the command line as it is.
func (p *Profile) planPlain(t agent.Turn) (agent.Plan, error) {
	plan := agent.Plan{Args: p.args, Stdin: t.Stdin, Plain: true, Env: p.environ(t)}
	if t.Session != "" {
		plan.Args = append([]string{p.args[0], "--resume=" + t.Session}, p.args[1:]...)
	}
	if t.Prompt != nil {
		plan.Stdin = append([]byte(text(*t.Prompt, "")), t.Stdin...)
	}
	return plan, nil
}

// prompt is the prompt in the command line, and the words that make it up: claude takes the first.
func (p *Profile) prompt() (string, []agent.Arg) {
	words := p.line.Words()
	if len(words) == 0 {
		return "", nil
	}
	return words[0].Values[0], words
}

// environ are the settings that claude gets.
func (p *Profile) environ(t agent.Turn) []string {
	if t.MaxRetries == nil || p.getenv(maxRetriesVar) != "" {
		return nil
	}
	return []string{maxRetriesVar + "=" + strconv.Itoa(min(*t.MaxRetries, 15))}
}

const maxRetriesVar = "CLAUDE_CODE_MAX_RETRIES"

// text makes sure that a prompt is taken for text. One that begins with a slash would be a command; on a second line,
// or after the command line's own prompt, it is not.
func text(prompt, before string) string {
	if before == "" && strings.HasPrefix(prompt, "/") {
		return "\n" + prompt
	}
	return prompt
}

func tooLarge(size int) error {
	return fmt.Errorf("the prompt has %d bytes and claude's API takes %d in a request; put the text in a file and name that in the prompt", size, MaxInput)
}
