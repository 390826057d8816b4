package codex

import (
	"slices"

	"github.com/belay-run/belay/internal/agent"
)

// args are the line's arguments as the caller wrote them, and what we add.
func (l *line) args() []string {
	args := slices.Concat(l.root.Args, []string{l.verb}, l.added, l.exec.Args)
	switch {
	case l.resumes:
		args = slices.Concat(args, []string{"resume"}, l.resume.Args)
	case l.reviews:
		args = slices.Concat(args, []string{"review"}, l.review.Args)
	}
	return args
}

// withPrompt are the arguments with another prompt.
func (l *line) withPrompt(prompt string) []string {
	part, word := l.prompt()
	if word == nil {
		return l.args()
	}
	changed := *l
	edited := slices.Clone(part.Args)
	edited[word.From] = prompt
	switch part {
	case &l.resume:
		changed.resume.Args = edited
	case &l.review:
		changed.review.Args = edited
	default:
		changed.exec.Args = edited
	}
	return changed.args()
}

// resumeArgs are the arguments that resume a session with what comes on stdin. The caller's options come along: those of
// exec stay before resume, which takes only some of them itself. An image goes after it, where -i takes one file and
// cannot take what follows for one; a session that knows its task has it already. A worktree cannot be asked for again, but
// that of the session can be gone back to: by itself codex works in whatever directory it is started in.
func (l *line) resumeArgs(session string, knows bool, worktree string) []string {
	image := func(a agent.Arg) bool { return a.Name == optImage }
	before := image
	var there []string
	if worktree != "" {
		before = func(a agent.Arg) bool { return image(a) || a.Name == optWorktree || a.Name == optDir }
		there = []string{"-C", worktree}
	}
	args := slices.Concat(options(&l.root, before), []string{l.verb}, l.added, options(&l.exec, before), there, []string{"resume"})
	for _, part := range l.parts() {
		for _, a := range part.Read {
			for _, file := range a.Values {
				if image(a) && !knows {
					args = append(args, "-i", file)
				}
			}
		}
	}
	args = append(args, options(&l.resume, func(a agent.Arg) bool { return before(a) || a.Name == optLast || a.Name == optAll })...)
	return append(args, session, "-")
}

// options are the arguments of a part that are options, but for some.
func options(part *agent.CommandLine, drop func(agent.Arg) bool) (args []string) {
	for _, a := range part.Read {
		if a.Name != "" && !drop(a) {
			args = append(args, part.Args[a.From:a.To]...)
		}
	}
	return args
}
