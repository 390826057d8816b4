package message

import (
	"fmt"
	"strings"
)

// ScriptAt says where in a script something is wrong; line is 0 if there is only one.
func ScriptAt(line, column int, what string) string {
	if line == 0 {
		return fmt.Sprintf("script, column %d: %s", column, what)
	}
	return fmt.Sprintf("script, line %d, column %d: %s", line, column, what)
}

// What is expected in a script.
const (
	ACommaOrLine  = "a comma or a new line"
	ACommaOrParen = "a comma or )"
	AStep         = "a step such as 200 or hang"
)

// NoStep says that there is no step of that name. near, if not empty, is the one that may be meant.
func NoStep(word, near string, names []string) string {
	text := fmt.Sprintf("there is no step %q", word)
	if near != "" {
		return text + DidYouMean(near)
	}
	return Sentences(text, "the steps are a status such as 429, "+strings.Join(names, ", "))
}

// NotClosed says that a parenthesis or quotes are not closed.
func NotClosed(what string) string { return what + " not closed" }

// ToolForm says how a tool is written.
func ToolForm() string { return "tool takes a tool and its input, as in tool(bash: ls)" }

// HeaderOneLine says that a header must be one line.
func HeaderOneLine() string { return "a header must be one line" }

// ReportNotWritten says that the report cannot be written.
func ReportNotWritten(err error) string { return fmt.Sprintf("cannot write the report: %v", err) }
