package opencode

import (
	"regexp"
	"strings"
	"sync"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// complaint is what opencode itself has said on stderr. In the plain form the tools of the model are shown there too, with what they
// have printed, so that only how it ends counts.
type complaint struct {
	text    string // all of it, without colours and without the log
	failure string // the last message, if that is a complaint of opencode; without its Error:
	begun   bool   // the plain form has told which model is asked
	worked  bool   // it shows a tool at work
	// rejected says that it ends with a tool that was not allowed.
	rejected bool
}

// errorMark stands before a complaint: in red, also where stderr is no terminal.
const errorMark = "\x1b[91m\x1b[1mError: \x1b[0m"

// toolMarks are what the lines begin with that tell of a tool.
var toolMarks = []string{"✗ ", "$ ", "→ ", "← ", "✱ ", "⚙ ", "◈ ", "% ", "# ", "• ", "│ ", "| "}

// header matches the line that tells which agent asks which model.
var header = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^> \S.* · \S+$`) })

func (f *follower) readStderr(e verdict.Excerpt) (c complaint) {
	raw := withoutLog(e.Text())
	c.text = agent.WithoutColour(raw)
	c.begun = header().MatchString(c.text)
	for line := range strings.Lines(c.text) {
		for _, mark := range toolMarks {
			c.worked = c.worked || c.begun && strings.HasPrefix(line, mark)
		}
	}
	last := strings.TrimRight(c.text, "\r\n ")
	c.rejected = strings.HasPrefix(last[strings.LastIndexByte(last, '\n')+1:], "Error: "+rejection)
	c.failure = lastComplaint(raw, c.begun)
	return c
}

// withoutLog is a text without the lines of the log.
func withoutLog(text string) string {
	if !strings.Contains(text, logBegins) {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, logBegins) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// lastComplaint is what stderr ends with, from the last line on that begins as a complaint. In the plain form that of a tool looks
// alike, and stands below the line that says which tool has failed.
func lastComplaint(text string, plain bool) string {
	text = strings.TrimRight(text, "\r\n ")
	at := strings.LastIndex(text, errorMark)
	size := len(errorMark)
	if at < 0 && !plain { // without colours
		at = strings.LastIndex("\n"+text, "\nError: ")
		size = len("Error: ")
	}
	if at < 0 || at > 0 && text[at-1] != '\n' {
		return ""
	}
	before := strings.TrimRight(text[:at], "\r\n ")
	last := agent.WithoutColour(before[strings.LastIndexByte(before, '\n')+1:])
	if strings.HasPrefix(last, "✗ ") {
		return ""
	}
	return strings.TrimSpace(agent.WithoutColour(text[at+size:]))
}
