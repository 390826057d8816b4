package codex

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// complaint is what codex itself has said on stderr. Tools write there too, in the plain form always and else in old
// versions, so that only how it began and what it said last count.
type complaint struct {
	text          string // all of it, without colours
	failure       string // the last message, if that is a complaint of codex; without its ERROR:
	session       string // the plain form's header has it
	version       string
	active        bool // the plain form shows something of the model
	hasAnswerText bool // it shows an answer
	worked        bool // it shows a tool at work
}

func readStderr(e verdict.Excerpt) (c complaint) {
	c.text = agent.WithoutColour(e.Text())
	c.readHeader()
	if c.session != "" {
		c.readWork()
	}
	c.failure = lastComplaint(c.text, c.active)
	return c
}

// readWork looks for what the plain form shows of the model and its tools.
func (c *complaint) readWork() {
	before := ""
	for line := range strings.Lines(c.text) {
		line = strings.TrimRight(line, "\r\n")
		c.active = c.active || slices.Contains(titles, line)
		c.worked = c.worked || line == "exec" || line == "apply patch"
		for _, begin := range tools {
			c.worked = c.worked || strings.HasPrefix(line, begin)
		}
		if before == "codex" && line != "tokens used" {
			c.hasAnswerText = c.hasAnswerText || strings.TrimSpace(line) != ""
		}
		if before != "codex" || strings.TrimSpace(line) != "" {
			before = line
		}
	}
	c.active = c.active || c.worked
}

// readHeader reads what the plain form prints before the prompt:
//
//	OpenAI Codex v0.166.0
//	--------
//	workdir: …
//	session id: 01a1dc8b-2e9a-7b42-ba45-231e3027132a
//	--------
func (c *complaint) readHeader() {
	_, after, ok := strings.Cut("\n"+c.text, "\nOpenAI Codex v")
	if !ok {
		return
	}
	c.version, after, _ = strings.Cut(after, "\n")
	c.version, _, _ = strings.Cut(c.version, " ")
	header, ok := strings.CutPrefix(after, "--------\n")
	header, _, closed := strings.Cut(header, "\n--------")
	if !ok || !closed {
		return
	}
	_, id, _ := strings.Cut(header, "session id: ")
	id, _, _ = strings.Cut(id, "\n")
	if id = strings.TrimSpace(id); agent.IsUUID(id) {
		c.session = id
	}
}

// titles are the lines that the plain form puts above what the model says and does.
var titles = []string{"codex", "thinking", "exec", "apply patch"}

// tools are how the lines begin that tell of tools which have no title.
var tools = []string{"mcp: ", "web search: ", "collab: ", "patch: ", "tool ", "🌐 "}

// complaints are the beginnings of such messages.
var complaints = []string{"ERROR: ", "Error: "}

// lastComplaint is what stderr ends with, from the last line on that begins as a complaint. A message can have several
// lines: the plain form shows the body of an answer as it is, but twice, and errors at the start come with their causes,
// which are indented. So what a tool printed last is not taken for it; once the model or a tool has run, only a message
// that stands there twice is.
func lastComplaint(text string, active bool) string {
	text = withoutClosing(text)
	if i := strings.LastIndexByte(text, '\n'); text[i+1:] == "turn interrupted" {
		return "turn interrupted"
	}
	for _, mark := range complaints {
		at := strings.LastIndex("\n"+text, "\n"+mark)
		if at < 0 {
			continue
		}
		message := text[at+len(mark):]
		twice := strings.Contains("\n"+text[:at], "\n"+mark+message+"\n")
		if _, _, progress := reconnecting(message); !progress && (twice || !active && oneParagraph(message)) {
			return message
		}
	}
	return ""
}

// closing matches what can come after the last message: codex's log, and how much was used.
var closing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|\n)(tokens used\n[\d,.]+|\d{4}-\d\d-\d\dT[\d:.]+Z +[A-Z]+ [\w:]+: [^\n]*)[\r\n ]*$`)
})

func withoutClosing(text string) string {
	text = strings.TrimRight(text, "\r\n ")
	for range 20 { // a longer log is not what ends the output
		// Only the end is looked at: to search all of it twenty times takes long.
		tail := max(len(text)-4096, 0)
		at := closing().FindStringIndex(text[tail:])
		if at == nil {
			break
		}
		text = strings.TrimRight(text[:tail+at[0]], "\r\n ")
	}
	return text
}

// oneParagraph reports whether the lines after the first are only its causes.
func oneParagraph(message string) bool {
	_, rest, _ := strings.Cut(message, "\n")
	for line := range strings.Lines(rest) {
		if line = strings.TrimRight(line, "\r\n"); line != "" && line != "Caused by:" && line[0] != ' ' {
			return false
		}
	}
	return true
}
