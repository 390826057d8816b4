package codex

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/agent"
)

// Plan implements agent.Agent.
//
// It adds --json, right after exec: there no variadic option can take it. So it does with how often codex may try
// again, where the caller has said so and codex can be told. What a session is resumed with is read
// from stdin, and so is a prompt that is long or that did not come as an argument.
func (p *Profile) Plan(t agent.Turn) (agent.Plan, error) {
	l := p.line
	if l.unknown() != "" || !p.headless {
		return t.Untouched(Name, l.unknown(), p.args, t.Input("\n\n"))
	}
	if !t.Plain && !l.has(optJSON) {
		l.added = []string{optJSON}
	}
	if !t.Plain && t.MaxRetries != nil {
		l.added = append(l.added, p.settings().retryOptions(*t.MaxRetries)...)
	}
	var args []string
	var stdin []byte
	var err error
	switch {
	case l.reviews && (t.Session != "" || t.Continue):
		return agent.Plan{}, fmt.Errorf("a review of codex cannot be resumed; run it again")
	case l.reviews:
		args, stdin, err = l.reviewArgs(t)
	case t.Session != "" && !agent.IsUUID(t.Session):
		// As a name codex would not find it, and silently begin a new thread.
		return agent.Plan{}, fmt.Errorf("%q is no session of codex: its sessions have UUIDs as names", t.Session)
	case t.Session != "":
		worktree := ""
		if t.Continue && l.has(optWorktree) {
			worktree = directoryOf(findRollout(p.home, t.Session))
		}
		args = l.resumeArgs(t.Session, t.Continue, worktree)
		stdin, err = l.resumePrompt(t)
	case t.Continue && !l.resumes:
		return agent.Plan{}, fmt.Errorf("there is no session of codex to continue")
	case t.Continue:
		args = l.withPrompt("-")
		stdin, err = l.resumePrompt(t)
	default:
		args, stdin, err = l.asWritten(t)
	}
	if err != nil {
		return agent.Plan{}, err
	}
	return agent.Plan{
		Args:  append([]string{p.args[0]}, args...),
		Stdin: stdin,
		Plain: t.Plain && !l.has(optJSON),
		Added: l.added, Chatter: readingStdin,
	}, nil
}

// readingStdin is what codex says if its stdin is not a terminal and it has a prompt.
const readingStdin = "Reading additional input from stdin...\n"

// asWritten is the line as the caller wrote it, and what comes on stdin with it.
func (l *line) asWritten(t agent.Turn) (args []string, stdin []byte, err error) {
	beside := t.Input("\n\n")
	_, word := l.prompt()
	if word == nil || word.Values[0] == "-" {
		// All of the prompt is read from stdin.
		if t.Prompt != nil {
			beside = []byte(combine(*t.Prompt, string(t.Stdin)))
		}
		return l.args(), beside, checkSize(string(beside))
	}
	own := word.Values[0]
	if l.resumes && t.Prompt == nil {
		beside = nil // resume with a prompt does not read stdin
	}
	whole := combine(own, string(beside))
	if len(own) <= agent.MaxArgument && !(l.resumes && t.Prompt != nil) {
		return l.args(), beside, checkSize(whole)
	}
	return l.withPrompt("-"), []byte(whole), checkSize(whole)
}

// resumePrompt is what a session is told when we resume it.
func (l *line) resumePrompt(t agent.Turn) ([]byte, error) {
	var pieces [][]byte
	if _, word := l.prompt(); word != nil && word.Values[0] != "-" && !t.Continue {
		pieces = append(pieces, []byte(word.Values[0]))
	}
	if t.Prompt != nil {
		pieces = append(pieces, []byte(*t.Prompt))
	}
	if t.Stdin != nil && !t.Continue {
		pieces = append(pieces, t.Stdin)
	}
	if len(pieces) == 0 {
		return nil, nil
	}
	whole := combine(string(pieces[0]), string(agent.Join("\n\n", pieces[1:]...)))
	return []byte(whole), checkSize(whole)
}

// maxChars is the most that codex takes as a prompt.
const maxChars = 1 << 20

// combine puts a prompt and what was piped in together as codex does.
func combine(prompt, stdin string) string {
	if strings.TrimSpace(stdin) == "" {
		return prompt
	}
	if !strings.HasSuffix(stdin, "\n") {
		stdin += "\n"
	}
	return prompt + "\n\n<stdin>\n" + stdin + "</stdin>"
}

// checkSize returns an error if codex would refuse a prompt for its length.
func checkSize(prompt string) error {
	if len(prompt) <= maxChars || isUTF16(prompt) {
		return nil
	}
	if n := utf8.RuneCountInString(strings.TrimPrefix(prompt, "\ufeff")); n > maxChars {
		return fmt.Errorf("codex takes a prompt of at most %s characters and this one has %s; put it into a file and name the file in the prompt",
			commas(maxChars), commas(n))
	}
	return nil
}

// isUTF16 reports whether text says so itself. Codex can read it, we cannot count it.
func isUTF16(text string) bool {
	return strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff")
}

// commas writes a number as a reader wants it: 1,048,576.
func commas(n int) string {
	digits := strconv.Itoa(n)
	var b bytes.Buffer
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
