package codex

import (
	"slices"

	"github.com/belay-run/belay/internal/agent"
)

// line is a command line taken apart: codex ROOT exec EXEC, codex ROOT exec EXEC resume RESUME, or codex ROOT exec EXEC
// review REVIEW.
type line struct {
	root, exec, resume, review agent.CommandLine
	verb                       string   // exec, as the caller calls it
	resumes, reviews           bool     // there is a resume, a review
	added                      []string // by us, right after exec
}

// read takes the arguments of codex apart. False means that they are not of a kind that we know how to treat.
func read(args []string) (l line, ok bool) {
	at := command(rootOptions().Read(args))
	if at < 0 || args[at] != "exec" && args[at] != "e" {
		return line{}, false
	}
	l.verb = args[at]
	l.root = rootOptions().Read(args[:at])
	rest := args[at+1:]
	l.exec = execOptions().Read(rest)
	at = command(l.exec)
	switch {
	case at >= 0 && rest[at] == "resume":
		l.resumes = true
		l.exec, l.resume = execOptions().Read(rest[:at]), resumeOptions().Read(rest[at+1:])
	case at >= 0 && rest[at] == "review":
		l.reviews = true
		l.exec, l.review = execOptions().Read(rest[:at]), reviewOptions().Read(rest[at+1:])
	case at >= 0 && slices.Contains(otherCommands, rest[at]):
		return line{}, false
	case slices.ContainsFunc(l.exec.Words(), func(a agent.Arg) bool {
		// codex takes a command also after the prompt, which then belongs to the command.
		return a.From > at && (l.exec.Dashes < 0 || a.From < l.exec.Dashes) && (a.Values[0] == "resume" || a.Values[0] == "review" || slices.Contains(otherCommands, a.Values[0]))
	}):
		return line{}, false
	}
	return l, !l.has(optHelp)
}

// otherCommands are the commands of exec that are not ours: a fork is a new thread.
var otherCommands = []string{"fork", "help"}

// command is where the first word stands, which may be a command; -1 if there is none.
func command(l agent.CommandLine) int {
	for _, a := range l.Read {
		if l.Dashes >= 0 && a.From > l.Dashes {
			break
		}
		if a.Name == "" {
			return a.From
		}
	}
	return -1
}

// parts are what the line consists of, in order.
func (l *line) parts() []*agent.CommandLine {
	return []*agent.CommandLine{&l.root, &l.exec, &l.resume, &l.review}
}

// has reports whether the option stands anywhere.
func (l *line) has(name string) bool {
	return slices.ContainsFunc(l.parts(), func(p *agent.CommandLine) bool { return p.Has(name) })
}

// unknown is the option that the tables do not know; empty if they know all.
func (l *line) unknown() string {
	for _, p := range l.parts() {
		if p.Unknown != "" {
			return p.Unknown
		}
	}
	return ""
}

// session is the one that the line resumes; empty if there is none or if the line does not say which. Codex takes
// whatever is not a UUID for a name, and silently begins a new thread if there is no such name.
func (l *line) session() string {
	words := l.resume.Words()
	if !l.resumes || len(words) == 0 || l.resume.Has(optLast) || !agent.IsUUID(words[0].Values[0]) {
		return ""
	}
	return words[0].Values[0]
}

// prompt is the word that is the prompt, and the part that it stands in; nil if there is none.
func (l *line) prompt() (*agent.CommandLine, *agent.Arg) {
	part, at := &l.exec, 0
	switch {
	case l.reviews:
		part = &l.review
	case l.resumes:
		part, at = &l.resume, 1 // after the session
		if l.resume.Has(optLast) && len(l.resume.Words()) == 1 {
			at = 0
		}
	}
	words := part.Words()
	if len(words) <= at {
		return part, nil
	}
	return part, &words[at]
}
