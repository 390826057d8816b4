package agent

import (
	"cmp"
	"slices"
	"strings"
)

// Meaning is what an option says, as far as another CLI can be told the same: see [Request].
type Meaning uint8

const (
	// OwnMeaning is the meaning of an option which only its CLI understands, or which restricts what the CLI may do. It is the zero value:
	// what is not known to be harmless counts as a restriction.
	OwnMeaning Meaning = iota
	// NoMeaning is the meaning of an option which others need not be told: it is about what the CLI shows of its work.
	NoMeaning
	// ModelMeaning says which model works, and how; every CLI has its own.
	ModelMeaning
	// DirMeaning says where the CLI works.
	DirMeaning
	// FormMeaning says what the CLI prints: see [Form].
	FormMeaning
	// PromptMeaning is the prompt itself.
	PromptMeaning
	// AllowAllMeaning says that nothing is asked for and nothing is sandboxed.
	AllowAllMeaning
	// NoSessionMeaning says that nothing of the session is kept on disk.
	NoSessionMeaning
)

// Request is what a command line asks of an agent, in words that another CLI can be told too.
type Request struct {
	// Prompt is the prompt in the command line.
	Prompt string
	// Dir is the directory that the command line names to work in, Model the model; empty if it names none.
	Dir, Model string
	// AllowAll says that nothing is asked for and nothing is sandboxed, NoSession that no session is kept.
	AllowAll, NoSession bool
	// Own is an option, or a command, that has no equivalent elsewhere; empty if there is none.
	Own string
}

// Add adds what the options of a part of a command line say, which was read by that table.
func (r *Request) Add(t Table, l *CommandLine) {
	for _, a := range l.Read {
		if a.Name == "" {
			continue
		}
		value := ""
		if len(a.Values) > 0 {
			value = a.Values[0]
		}
		switch o, _ := t.find(a.Name); o.meaning(value) {
		case OwnMeaning:
			written, _, _ := strings.Cut(l.Args[a.From], "=")
			r.own(written)
		case DirMeaning:
			r.Dir = value
		case ModelMeaning:
			if slices.Contains(o.Names, "--model") { // others say how hard it is to think
				r.Model = value
			}
		case AllowAllMeaning:
			r.AllowAll = true
		case NoSessionMeaning:
			r.NoSession = true
		}
	}
	if l.Unknown != "" {
		unknown, _, _ := strings.Cut(l.Unknown, "=")
		r.own(unknown)
	}
}

// own notes the first that has no equivalent.
func (r *Request) own(name string) {
	r.Own = cmp.Or(r.Own, name)
}

// Command notes a prompt that is a command of the CLI itself, as /review is one: to another it would be text.
func (r *Request) Command(prompt string) {
	if strings.HasPrefix(prompt, "/") {
		name, _, _ := strings.Cut(prompt, " ")
		r.own(name)
	}
}

// StandIn says how a CLI is asked in the place of another one.
type StandIn struct {
	// Ask takes the place of [Descriptor.Ask] where a CLI has a check that others do not have; nil means Ask.
	Ask []string
	// Model is the option that names the model; empty if there is none.
	Model string
	// AllowAll is the option that means [AllowAllMeaning], NoSession the one that means [NoSessionMeaning]; empty if there is none.
	AllowAll, NoSession string
	// Open says that the CLI changes files and runs commands without being allowed to, unless its settings say otherwise.
	Open bool
}
