package codex

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// progress tells people what codex does, in codex's own words: what `codex exec` prints on stderr where it is not asked for
// events. Most of that is in the events. What is not, codex's record of the thread has: the settings at the beginning, the
// directory of a command, the patches. Only the names of hooks that run are in neither.
//
// The form is that of 0.150 to 0.166, which is the same.
type progress struct {
	prompt        string
	hideReasoning bool
	settings      func() settings
	warning       func(sandbox string) string // of a sandbox that lacks something; empty if it does not
	color         bool

	record progressRecord
	headed bool         // the header is printed
	early  bytes.Buffer // warnings that came before it
	begun  map[string]time.Time
	diff   turnDiff
}

// event is what an event prints. Until over is closed, what the record lacks may be waited for.
func (p *progress) event(e event, over <-chan struct{}) string {
	var out bytes.Buffer
	p.record.over = over
	switch {
	case e.Type == "":
		return ""
	case e.Type == "thread.started":
		p.record.thread = e.ThreadID
		return ""
	case p.headed:
	case e.Type == "item.completed" && e.Item.Type == "error": // a warning can come before the turn begins
		p.completed(&p.early, e.Item)
		return ""
	case e.Type == "turn.started":
		p.head(&out, headLimit)
	default: // there is none
		p.head(&out, recordLimit)
	}
	switch e.Type {
	case "item.started", "item.updated":
		p.started(&out, e)
	case "item.completed":
		p.completed(&out, e.Item)
	case "error":
		text := e.Message
		if what, _, ok := reconnecting(text); ok { // it leaves out why
			text = "Reconnecting... " + what
		}
		fmt.Fprintf(&out, "%s %s\n", p.paint("ERROR:", bold, red), text)
	case "turn.failed":
		fmt.Fprintf(&out, "%s %s\n", p.paint("ERROR:", bold, red), e.Error.Message)
		p.record.read()
		if total := p.record.total; total != nil {
			p.tokensUsed(&out, *total)
		}
	case "turn.completed":
		var sum tokens
		if json.Unmarshal(e.Usage, &sum) == nil && sum != (tokens{}) { // a review counts nothing
			p.tokensUsed(&out, sum)
		}
	}
	return out.String()
}

// head prints what a run begins with, once the record has it.
func (p *progress) head(out *bytes.Buffer, limit time.Duration) {
	p.record.await(limit, p.record.hasSettings)
	h := p.record.heading(p.settings())
	fmt.Fprintf(out, "OpenAI Codex%s\n--------\n", versionText(h.version))
	for _, entry := range h.entries() {
		if entry[1] != "" {
			fmt.Fprintf(out, "%s %s\n", p.paint(entry[0]+":", bold), entry[1])
		}
	}
	fmt.Fprintf(out, "--------\n%s\n%s\n", p.paint("user", cyan), p.prompt)
	if text := p.warning(h.sandbox); text != "" {
		p.warn(out, text)
	}
	out.Write(p.early.Bytes())
	p.headed = true
}

func (p *progress) started(out *bytes.Buffer, e event) {
	i := e.Item
	switch {
	case i.Type == "todo_list":
		p.plan(out, i)
	case e.Type != "item.started":
	case i.Type == "command_execution":
		p.begun[i.ID] = time.Now()
		fmt.Fprintf(out, "%s\n%s in %s\n", p.paint("exec", magenta, italic), p.paint(i.Command, bold), p.record.directory(i.Command))
	case i.Type == "mcp_tool_call":
		fmt.Fprintf(out, "%s %s %s\n", p.paint("mcp:", bold), p.paint(i.Server+"/"+i.Tool, cyan), p.paint("started", dim))
	case i.Type == "web_search":
		fmt.Fprintf(out, "%s %s\n", p.paint("web search:", bold), i.Query)
	case i.Type == "file_change":
		fmt.Fprintln(out, p.paint("apply patch", bold))
	case i.Type == "collab_tool_call":
		fmt.Fprintf(out, "%s %s\n", p.paint("collab:", bold), camel(i.Tool))
	}
}

func (p *progress) completed(out *bytes.Buffer, i item) {
	switch i.Type {
	case "agent_message":
		fmt.Fprintf(out, "%s\n%s\n", p.paint("codex", magenta, italic), i.Text)
	case "reasoning":
		if strings.TrimSpace(i.Text) != "" && !p.hideReasoning {
			fmt.Fprintln(out, p.paint(i.Text, dim))
		}
	case "error":
		p.warn(out, i.Message)
	case "command_execution":
		p.ran(out, i)
	case "mcp_tool_call":
		outcome := map[string]int{"completed": green, "failed": red}[i.Status]
		fmt.Fprintf(out, "%s %s %s\n", p.paint("mcp:", bold), p.paint(i.Server+"/"+i.Tool, cyan), p.paint("("+p.paint(i.Status, cmp.Or(outcome, dim))+")", dim))
		if i.Error.Message != "" {
			fmt.Fprintln(out, p.paint(i.Error.Message, red))
		}
	case "web_search":
		fmt.Fprintf(out, "%s %s\n", p.paint("web search:", bold), i.Query)
	case "file_change":
		fmt.Fprintf(out, "%s %s\n", p.paint("patch:", bold), i.Status)
		for _, change := range i.Changes {
			fmt.Fprintln(out, p.paint(change.Path, dim))
		}
		if i.Status == "completed" && len(i.Changes) > 0 {
			p.patched(out, i.Changes[0].Path)
		}
	}
}

// ran prints how a command has ended, and what it has printed.
func (p *progress) ran(out *bytes.Buffer, i item) {
	took := ""
	if at, ok := p.begun[i.ID]; ok {
		took = fmt.Sprintf(" in %dms", time.Since(at).Milliseconds())
		delete(p.begun, i.ID)
	}
	switch i.Status {
	case "completed":
		fmt.Fprintln(out, p.paint(" succeeded"+took+":", green))
	case "failed":
		code := 1
		if i.ExitCode != nil {
			code = *i.ExitCode
		}
		fmt.Fprintln(out, p.paint(fmt.Sprintf(" exited %d%s:", code, took), red))
	case "declined":
		fmt.Fprintln(out, p.paint(" declined"+took+":", yellow))
	default:
		fmt.Fprintln(out, p.paint(" in progress"+took+":", dim))
	}
	if strings.TrimSpace(i.Output) != "" {
		fmt.Fprintln(out, i.Output)
	}
}

// patched prints all that the turn has changed so far, up to the patch that changes this file.
func (p *progress) patched(out *bytes.Buffer, path string) {
	p.record.await(recordLimit, func() bool { return p.record.patchOf(path) >= 0 })
	at := p.record.patchOf(path)
	if at < 0 {
		p.diff.lost = true
		return
	}
	for ; at >= 0; at-- { // those before it are known too, if their event was not
		next := p.record.patches[0]
		p.record.patches = p.record.patches[1:]
		p.diff.apply(next, p.record.patches)
	}
	if text := p.diff.text(p.record.cwd); text != "" {
		fmt.Fprintln(out, text)
	}
}

// plan prints the model's plan. Events say only which of its steps are done.
func (p *progress) plan(out *bytes.Buffer, i item) {
	plan, ok := p.record.newestPlan()
	if !ok {
		for _, step := range i.Items {
			status := ""
			if step.Completed {
				status = "completed"
			}
			plan.Plan = append(plan.Plan, planStep{step.Text, status})
		}
	}
	if plan.Explanation != nil {
		fmt.Fprintln(out, p.paint(*plan.Explanation, italic))
	}
	for _, step := range plan.Plan {
		switch step.Status {
		case "completed":
			fmt.Fprintf(out, "  %s %s\n", p.paint("✓", green), step.Step)
		case "in_progress":
			fmt.Fprintf(out, "  %s %s\n", p.paint("→", cyan), step.Step)
		default:
			fmt.Fprintf(out, "  %s %s\n", p.paint("•", dim), p.paint(step.Step, dim))
		}
	}
}

func (p *progress) warn(out *bytes.Buffer, text string) {
	if rest, ok := strings.CutPrefix(text, "model rerouted: "); ok {
		models, _, _ := strings.Cut(rest, " (")
		fmt.Fprintf(out, "%s %s\n", p.paint("model rerouted:", bold, yellow), models)
		return
	}
	fmt.Fprintf(out, "%s %s\n", p.paint("warning:", bold, yellow), text)
}

// tokensUsed prints how many tokens the thread has used, without those that were cached.
func (p *progress) tokensUsed(out *bytes.Buffer, sum tokens) {
	n := max(sum.Input-max(sum.CachedInput, 0), 0) + max(sum.Output, 0)
	fmt.Fprintf(out, "%s\n%s\n", p.paint("tokens used", dim), commas(int(n)))
}

// The styles that codex uses.
const (
	bold    = 1
	dim     = 2
	italic  = 3
	red     = 31
	green   = 32
	yellow  = 33
	magenta = 35
	cyan    = 36
)

// paint is a text in styles, the last of which is the inner one.
func (p *progress) paint(text string, styles ...int) string {
	if !p.color {
		return text
	}
	for i := len(styles) - 1; i >= 0; i-- {
		text = fmt.Sprintf("\x1b[%dm%s\x1b[0m", styles[i], text)
	}
	return text
}

// camel writes spawn_agent as codex does there: SpawnAgent.
func camel(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// promptOf is what codex is asked by a command line, with what comes on stdin: it repeats that.
func promptOf(l line, stdin []byte) string {
	_, word := l.prompt()
	given := ""
	if word != nil && word.Values[0] != "-" {
		given = word.Values[0]
	}
	switch {
	case l.reviews && given == "" && word == nil:
		return reviewed(&l)
	case given == "":
		return string(stdin)
	case l.resumes || l.reviews:
		return given
	}
	return combine(given, string(stdin))
}

// reviewed says what is reviewed.
func reviewed(l *line) string {
	switch base, commit, title := l.review.Value("--base"), l.review.Value("--commit"), l.review.Value("--title"); {
	case base != "":
		return fmt.Sprintf("changes against '%s'", base)
	case commit != "" && title != "":
		return fmt.Sprintf("commit %.7s: %s", commit, title)
	case commit != "":
		return fmt.Sprintf("commit %.7s", commit)
	}
	return "current changes"
}

// within is a path as seen from a directory; as it is if it lies elsewhere.
func within(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(path)
}
