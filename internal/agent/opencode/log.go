package opencode

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/belay-run/belay/internal/agent"
)

// logLine is a line of opencode's log on stderr:
//
//	timestamp=2026-11-16T12:09:27.410Z level=ERROR run=c4137683 message="stream error" providerID=… session.id=ses_… small=false agent=build error.error="AI_APICallError: …"
type logLine struct {
	Level, Message string
	fields         string // what follows them
	old            bool   // it is in the form up to 1.15
}

// logBegins is how such a line begins.
const logBegins = "timestamp="

// oldLogBegins are how the lines of the log begin up to 1.15: a level, and a time. Their values have no quotes.
//
//	ERROR 2026-11-16T13:22:31 +2ms service=session.processor error=The server had an error. stack="…" process
var oldLogBegins = []string{"INFO  20", "ERROR 20", "WARN  20", "DEBUG 20"}

// isLog reports whether a line, or what there is of it, is one of the log. sure is false as long as it may become one.
func isLog(line []byte) (is, sure bool) {
	for _, begin := range append([]string{logBegins}, oldLogBegins...) {
		if bytes.HasPrefix(line, []byte(begin)) {
			return true, true
		}
		if strings.HasPrefix(begin, string(line)) {
			is = true // it is not known yet
		}
	}
	return is, !is
}

// readLog reads a line of the log; false means that it is none.
func readLog(line []byte) (l logLine, ok bool) {
	text := string(line)
	if !strings.HasPrefix(text, logBegins) {
		return readOldLog(text)
	}
	l.fields = text
	l.Level, l.Message = l.field("level"), l.field("message")
	return l, l.Level != ""
}

// readOldLog reads a line of the log up to 1.15. Its message stands at the end.
func readOldLog(text string) (l logLine, ok bool) {
	is, _ := isLog([]byte(text))
	if !is || len(text) < len(oldLogBegins[0]) {
		return l, false
	}
	l.old = true
	l.Level, l.fields = strings.TrimSpace(text[:5]), text[6:]
	for _, message := range []string{"stream error", "stream", "process", "loop", "exiting loop", "created", "evaluated"} {
		if strings.HasSuffix(text, " "+message) {
			l.Message = message
		}
	}
	return l, true
}

// field is the value of a field; empty if there is none.
func (l *logLine) field(name string) string {
	rest := " " + l.fields
	for {
		at := strings.Index(rest, " "+name+"=")
		if at < 0 {
			return ""
		}
		// A name that stands inside a value is not one.
		if before := rest[:at]; strings.Count(before, `"`)-strings.Count(before, `\"`) == 0 || (strings.Count(before, `"`)-strings.Count(before, `\"`))%2 == 0 {
			return logValue(rest[at+len(name)+2:])
		}
		rest = rest[at+1:]
	}
}

// session is the one that the line is about; empty if it does not say.
func (l *logLine) session() string {
	if l.old {
		return l.field("sessionID")
	}
	return l.field("session.id")
}

// allows reports whether the line says that a tool may do something.
func (l *logLine) allows() bool {
	if l.old {
		_, action, _ := strings.Cut(l.fields, " action={")
		return strings.Contains(action, `"action":"allow"`)
	}
	return l.field("action.action") == "allow"
}

// errorText is what the log says of a failed request.
func (l *logLine) errorText() string {
	if l.old {
		_, text, _ := strings.Cut(l.fields, " error=")
		text, _, _ = strings.Cut(text, " stack=")
		return text
	}
	for _, name := range []string{"error.error", "error.error.message", "error.message", "error"} {
		if text := l.field(name); text != "" {
			return strings.TrimPrefix(text, "AI_APICallError: ")
		}
	}
	return ""
}

// logValue is the value that a text begins with: in quotes, or up to a blank.
func logValue(text string) string {
	if strings.HasPrefix(text, `"`) {
		if quoted, err := strconv.QuotedPrefix(text); err == nil {
			if value, err := strconv.Unquote(quoted); err == nil {
				return value
			}
		}
		return strings.Trim(text, `"`) // JSON has escapes that Go does not have, or the line was cut
	}
	value, _, _ := strings.Cut(text, " ")
	return value
}

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
