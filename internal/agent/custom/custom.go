// Package custom is the profile of a CLI that has no folder of its own: what is known of it is data, from a table
// [profile.NAME] of the user's file.
//
// A [Definition] has what the folders of other CLIs have in their tables: options, headless use, events, rules, sessions, the way
// it is stopped. It becomes an [agent.Descriptor] as theirs, so that everything else treats it alike. Its patterns are compiled
// when a command of the CLI is run, since the file is read by every other run too.
package custom

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// Profile is one command line of such a CLI.
type Profile struct {
	def  *Definition
	args []string // all of it, the command first
	line agent.CommandLine
	env  []string
	home string // where the CLI keeps its things; empty if that is not known
}

func newProfile(d *Definition, args, env []string, dir string) *Profile {
	if len(args) == 0 {
		args = []string{d.Name}
	}
	p := &Profile{def: d, args: args, env: env, line: d.Options.Read(args[1:])}
	switch home := agent.HomeDir(env); {
	case d.HomeVar != "" && p.getenv(d.HomeVar) != "":
		p.home = p.getenv(d.HomeVar)
	case d.HomeDir != "" && home != "":
		p.home = filepath.Join(home, d.HomeDir)
	}
	if p.home != "" && !filepath.IsAbs(p.home) {
		p.home = filepath.Join(dir, p.home)
	}
	return p
}

// Name implements [agent.Profile].
func (p *Profile) Name() string { return p.def.Name }

// Headless implements [agent.Profile].
func (p *Profile) Headless() bool {
	h := &p.def.Headless
	own := p.line.Args
	if i := slices.Index(own, "--"); i >= 0 {
		own = own[:i]
	}
	for i, a := range own {
		name, _, _ := strings.Cut(a, "=")
		if strings.HasPrefix(name, "-") && slices.Contains(h.Except, name) && !p.isValue(i) {
			return false
		}
	}
	words := p.line.Words()
	if len(words) > 0 && !strings.HasPrefix(words[0].Values[0], "-") && slices.Contains(h.Except, words[0].Values[0]) {
		return false
	}
	switch {
	case h.Always:
		return true
	case len(h.Command) > 0:
		return p.afterCommand() >= 0
	case h.Words && len(words) > 0:
		return true
	}
	if p.line.Unknown != "" { // it keeps the rest from being read
		return slices.ContainsFunc(own, func(a string) bool {
			name, _, _ := strings.Cut(a, "=")
			return slices.ContainsFunc(h.Options, func(o string) bool { return p.def.option(o) == p.def.option(name) })
		})
	}
	return slices.ContainsFunc(h.Options, func(name string) bool { return p.line.Has(p.def.option(name)) })
}

// isValue reports whether an argument is the value of the option before it.
func (p *Profile) isValue(i int) bool {
	return slices.ContainsFunc(p.line.Read, func(a agent.Arg) bool { return a.Name != "" && a.From < i && i < a.To })
}

// afterCommand is where the arguments of the subcommand begin that is the CLI's headless use: 0 if it needs none, -1 if it is not
// there.
func (p *Profile) afterCommand() int {
	if len(p.def.Headless.Command) == 0 {
		return 0
	}
	words := p.line.Words()
	for i, want := range p.def.Headless.Command {
		if i >= len(words) || words[i].Values[0] != want {
			return -1
		}
	}
	return words[len(p.def.Headless.Command)-1].To
}

// Reads implements [agent.Profile].
func (p *Profile) Reads() bool { return true }

// Judge implements [agent.Profile], for an outcome that was saved. Events are known by how the first line looks.
func (p *Profile) Judge(o verdict.Outcome, now time.Time) verdict.Verdict {
	return agent.Replay(&follower{profile: p, table: p.def.compiled(), Attempt: agent.Attempt{Guess: true}}, o, now)
}

// Info implements [agent.Agent].
func (p *Profile) Info() agent.Info {
	d := p.def
	t := agent.Info{Gate: p.gate(), Provider: d.Name, Home: p.home, Form: p.form(), Ladder: slices.Clone(d.Stop), Daemons: d.compiled().daemons, MaxInput: d.Prompt.MaxStdin, Tested: d.Tested,
		NoInput: d.Prompt.Stdin == Unread, Unknown: p.line.Unknown, Prompt: p.prompt()}
	if p.showsEvents() || p.form() == agent.Stream {
		t.Stall, t.ToolStall = d.Stall, cmp.Or(d.ToolStall, d.Stall)
		t.TellsCalls = slices.ContainsFunc(d.Events, func(e Event) bool { return e.Kind == Tool && e.Paths[FieldToolInput] != "" })
	}
	t.Resumes = p.resumed(&p.line)
	for _, name := range d.Session.Options {
		t.GoesOn = t.GoesOn || p.line.Has(d.option(name))
	}
	t.HasPrompt = t.Prompt != "" || p.line.Unknown != "" || slices.ContainsFunc(d.Prompt.Others, func(name string) bool { return p.line.Has(d.option(name)) })
	return t
}

// resumed is the session that a command line resumes; empty if none, or if it does not say which.
func (p *Profile) resumed(line *agent.CommandLine) string {
	if args := p.def.Session.Resume; len(args) > 0 {
		name, _, _ := strings.Cut(args[0], "=")
		if id := line.Value(p.def.option(name)); id != "" && p.def.isSession(id) {
			return id
		}
	}
	return ""
}

// form is what the caller has asked the CLI to print.
func (p *Profile) form() agent.Form {
	e := p.def.Output.Events
	switch {
	case len(e) == 0 || !p.line.Has(p.def.option(e[0])):
		return agent.Text
	case len(e) == 1 || p.line.Value(p.def.option(e[0])) == e[1]:
		return agent.Stream
	case p.line.Value(p.def.option(e[0])) == p.def.Output.Text:
		return agent.Text
	}
	return agent.JSON
}

// showsEvents reports whether the CLI is started so that it prints events where its caller asked for text. A form that is neither
// is left alone.
func (p *Profile) showsEvents() bool {
	return len(p.def.Output.Events) > 0 && p.line.Unknown == "" && p.form() == agent.Text
}

// prompt is the prompt in the command line: the value of its option, or the words.
func (p *Profile) prompt() string {
	if own := p.line.Value(p.def.option(p.def.Prompt.Option)); p.def.Prompt.Option != "" && own != "" {
		return own
	}
	var words []string
	for _, w := range p.line.Words() {
		if p.isPromptWord(w) {
			words = append(words, w.Values[0])
		}
	}
	return strings.Join(words, " ")
}

// isPromptWord reports whether an item of the command line is a word of the prompt.
func (p *Profile) isPromptWord(a agent.Arg) bool {
	return a.Name == "" && p.def.Prompt.Words && a.From >= max(p.afterCommand(), 0)
}

// gate is the key of the limits: those of an account at an endpoint. Without a key the account is that of the CLI's home.
func (p *Profile) gate() string {
	s := &p.def.Service
	host, account := "", ""
	for _, name := range s.AddressVars {
		host = cmp.Or(host, agent.Host(p.getenv(name)))
	}
	for _, name := range s.KeyVars {
		account = cmp.Or(account, p.getenv(name))
	}
	return agent.GateKey(p.def.Name, cmp.Or(host, agent.Host(s.Host)), cmp.Or(account, p.home))
}

func (p *Profile) getenv(name string) string { return agent.Getenv(p.env, name) }
