// Package actions reports on a run to GitHub Actions: an annotation, a summary of the step and its outputs, in the forms that
// the runner reads. What a command or a service has said may be in all of them, and cannot forge any of it.
package actions

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
)

// Report is what there is to say of a run. Its texts must hold no secrets: others read them.
type Report struct {
	Command string // its name
	Name    string // of the run; empty if it has none
	Success bool
	Class   string // of the failure
	Error   string // what went wrong, in words
	// Retried are the failures that were retried, by Belay or by the command itself.
	Retried  []Failure
	Attempts int
	Waited   time.Duration
	Duration time.Duration
	ExitCode int
	Session  string
	// Input and Output are tokens. Cost is in US dollars; nil if it is not known.
	Input, Output int64
	Cost          *float64
	Estimated     bool
}

// Failure is one that was retried.
type Failure struct {
	Attempt int
	Class   string
	Text    string // what went wrong, in words
	Times   int    // in a row; 0 and 1 are once
}

// Add adds a failure that was retried. One that is like the last is counted.
func (r *Report) Add(f Failure) {
	if n := len(r.Retried); n > 0 {
		last := &r.Retried[n-1]
		if last.Attempt == f.Attempt && last.Class == f.Class && last.Text == f.Text {
			last.Times = max(last.Times, 1) + max(f.Times, 1)
			return
		}
	}
	r.Retried = append(r.Retried, f)
}

// String is the failure in a line.
func (f Failure) String() string {
	text := message.ClassName(f.Class, 0) + ": " + f.Text
	if f.Times > 1 {
		text += fmt.Sprintf(" (%d times)", f.Times)
	}
	return text
}

// Annotation is a line for the log of the job that GitHub shows beside the change: an error for a run that failed, a warning for one
// that had to be retried; empty if there is nothing to tell.
func (r Report) Annotation() string {
	switch {
	case !r.Success:
		return command("error", fmt.Sprintf("belay: %s failed (%s)", r.who(), message.ClassName(r.Class, r.ExitCode)), r.Error)
	case len(r.Retried) > 0:
		var classes, lines []string
		for _, f := range r.Retried {
			lines = append(lines, f.String())
			if class := message.ClassName(f.Class, 0); !slices.Contains(classes, class) {
				classes = append(classes, class)
			}
		}
		return command("warning", fmt.Sprintf("belay: %s succeeded after retries (%s)", r.who(), strings.Join(classes, ", ")), strings.Join(lines, "\n"))
	}
	return ""
}

// who is the run by its name, if it has one, and its command.
func (r Report) who() string {
	if r.Name == "" {
		return r.Command
	}
	return r.Name + ": " + r.Command
}

// Error is a line that GitHub shows as an error beside a file.
func Error(file, title, text string) string {
	return strings.Replace(command("error", title, text), "::error title=", "::error file="+property(printable.Line(file))+",title=", 1)
}

// Line is a line for the log of the job that is no command. The runner looks for one of its older form, ##[name], anywhere in a
// line; one of the newer form begins it, which a line of Belay's does not.
func Line(text string) string { return strings.ReplaceAll(text, "##[", "## [") }

// command is a workflow command. The runner takes a line apart at colons and commas, and ends it at a line break.
func command(name, title, text string) string {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	return fmt.Sprintf("::%s title=%s::%s\n", name, property(printable.Line(title)), data.Replace(printable.Text(text)))
}

// property is the value of a property of one.
func property(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(text)
}

// Outputs are the outputs of the step, in the form of the file GITHUB_OUTPUT. Each has a delimiter of its own that no value can
// know.
func (r Report) Outputs() string {
	var b strings.Builder
	for _, o := range []struct{ name, value string }{
		{"total_cost_usd", r.cost("")},
		{"input_tokens", strconv.FormatInt(r.Input, 10)},
		{"output_tokens", strconv.FormatInt(r.Output, 10)},
		{"attempts", strconv.Itoa(r.Attempts)},
		{"session_id", r.Session},
		{"error_type", r.errorType()},
	} {
		end := "belay_" + rand.Text()
		fmt.Fprintf(&b, "%s<<%s\n%s\n%s\n", o.name, end, printable.Line(o.value), end)
	}
	return b.String()
}

func (r Report) errorType() string {
	if r.Success {
		return ""
	}
	return r.Class
}

func (r Report) cost(unknown string) string {
	if r.Cost == nil {
		return unknown
	}
	return strconv.FormatFloat(*r.Cost, 'f', -1, 64)
}

// Summary is a section of Markdown for the page of the job.
func (r Report) Summary() string {
	state := "✅ ok"
	if !r.Success {
		state = "❌ " + Code(message.ClassName(r.Class, r.ExitCode))
	}
	cost := "unknown"
	if r.Cost != nil {
		cost = fmt.Sprintf("$%.4f", *r.Cost)
		if r.Estimated {
			cost = "~" + cost
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "### belay: %s\n\n", Code(r.who()))
	b.WriteString("| result | exit code | attempts | waited | took | tokens in | tokens out | cost |\n|---|--:|--:|--:|--:|--:|--:|--:|\n")
	fmt.Fprintf(&b, "| %s | %d | %d | %s | %s | %d | %d | %s |\n", state, r.ExitCode, r.Attempts, round(r.Waited), round(r.Duration), r.Input, r.Output, cost)
	failures := r.Retried
	if !r.Success {
		failures = append(failures[:len(failures):len(failures)], Failure{Attempt: r.Attempts, Class: r.Class, Text: r.Error})
	}
	if len(failures) > 0 {
		b.WriteString("\n| attempt | error | times | what went wrong |\n|--:|---|--:|---|\n")
	}
	for i, f := range failures {
		if more := len(failures) - maxRows; more > 0 && i >= maxRows-1 && i < len(failures)-1 { // the last one says how it ended
			if i == maxRows-1 {
				fmt.Fprintf(&b, "| | | | … and %d more |\n", more)
			}
			continue
		}
		fmt.Fprintf(&b, "| %d | %s | %d | %s |\n", f.Attempt, Code(message.ClassName(f.Class, 0)), max(f.Times, 1), Code(f.Text))
	}
	if r.Session != "" {
		fmt.Fprintf(&b, "\nSession: %s\n", Code(r.Session))
	}
	b.WriteString("\n")
	return b.String()
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }

// What is shown in a summary: of a text so many columns, and so many failures. The runner drops a summary of more than a mebibyte.
const maxText, maxRows = 2000, 50

// Code is a text in a cell or a line of Markdown that means nothing but itself. It stands in code spans: within those there are no
// marks, HTML, links, mentions or references, and character references are not read either. Only a vertical line would end the cell
// there too, so it stands between two spans.
func Code(text string) string {
	parts := strings.Split(printable.CutEnd(printable.Line(text), maxText, "…"), "|")
	for i, part := range parts {
		parts[i] = span(part)
	}
	return strings.Join(parts, "&#124;")
}

// span is a code span: between marks that are longer than any in the text, and with a space on both sides where one would be taken
// away or the text begins or ends with a mark.
func span(text string) string {
	if strings.Trim(text, " ") == "" {
		return text
	}
	mark := "`"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	if strings.Trim(text, " `") != text {
		text = " " + text + " "
	}
	return mark + text + mark
}
