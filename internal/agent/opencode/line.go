package opencode

import (
	"strings"

	"github.com/belay-run/belay/internal/agent"
)

// line is a command line taken apart: opencode ROOT run RUN.
type line struct {
	root, run agent.CommandLine
}

// read takes the arguments of opencode apart. False means that they are not of a kind that we know how to treat: another
// command, or one for a person.
func read(args []string) (l line, ok bool) {
	whole := globalOptions().Read(args)
	at := -1
	for _, a := range whole.Read {
		if a.Name == "" && (whole.Dashes < 0 || a.From < whole.Dashes) {
			at = a.From
			break
		}
	}
	if at < 0 || args[at] != "run" {
		return line{}, false
	}
	l.root, l.run = globalOptions().Read(args[:at]), options().Read(args[at+1:])
	return l, !l.has(optHelp) && !l.has(optVersion) && !l.has(optInteractive)
}

// has reports whether the option stands anywhere.
func (l *line) has(name string) bool { return l.root.Has(name) || l.run.Has(name) }

// session is the one that the line resumes; empty if there is none, or if the line does not say which. A fork is another one.
func (l *line) session() string {
	if l.has(optFork) {
		return ""
	}
	return l.run.Value(optSession)
}

// goesOn reports whether the line resumes a session, whichever.
func (l *line) goesOn() bool { return l.has(optSession) || l.has(optContinue) }

// message is the prompt of the line, as opencode makes it of the words: one that has a space is quoted.
func (l *line) message() string {
	var words []string
	for _, a := range l.run.Words() {
		word := a.Values[0]
		if strings.Contains(word, " ") {
			word = `"` + strings.ReplaceAll(word, `"`, `\"`) + `"`
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}
