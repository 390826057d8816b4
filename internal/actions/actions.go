// Package actions reports on a run to GitHub Actions: an annotation, a summary of the step and its outputs, in the forms that
// the runner reads. What a command or a service has said may be in all of them, and cannot forge any of it.
package actions

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/printable"
)

// Report is what there is to say of a run. Its texts must hold no secrets: others read them.
type Report struct {
	Command string // its name
	Success bool
	Class   string // of the failure, or of the last one that was retried
	Error   string // what went wrong, in words
	// Earlier are the failures that were retried.
	Earlier  []string
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

// Annotation is a line for the log of the job that GitHub shows beside the change: an error for a run that failed, a warning for one
// that had to be retried; empty if there is nothing to tell.
func (r Report) Annotation() string {
	switch {
	case !r.Success:
		return command("error", fmt.Sprintf("belay: %s failed (%s)", r.Command, r.Class), r.Error)
	case len(r.Earlier) > 0:
		return command("warning", fmt.Sprintf("belay: %s succeeded at attempt %d", r.Command, r.Attempts), strings.Join(r.Earlier, "\n"))
	}
	return ""
}

// command is a workflow command. The runner takes a line apart at colons and commas, and ends it at a line break.
func command(name, title, message string) string {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	return fmt.Sprintf("::%s title=%s::%s\n", name, property.Replace(printable.Line(title)), data.Replace(printable.Text(message)))
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
		state = "❌ " + r.Class
	}
	cost := "unknown"
	if r.Cost != nil {
		cost = fmt.Sprintf("$%.4f", *r.Cost)
		if r.Estimated {
			cost = "~" + cost
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "### belay: %s\n\n", inline(r.Command))
	b.WriteString("| result | exit code | attempts | waited | took | tokens in | tokens out | cost |\n|---|--:|--:|--:|--:|--:|--:|--:|\n")
	fmt.Fprintf(&b, "| %s | %d | %d | %s | %s | %d | %d | %s |\n", inline(state), r.ExitCode, r.Attempts, round(r.Waited), round(r.Duration), r.Input, r.Output, cost)
	failures := r.Earlier
	if !r.Success {
		failures = append(failures[:len(failures):len(failures)], r.Error)
	}
	if len(failures) > 0 {
		b.WriteString("\n| attempt | what went wrong |\n|--:|---|\n")
	}
	for i, text := range failures {
		fmt.Fprintf(&b, "| %d | %s |\n", i+1, inline(text))
	}
	if r.Session != "" {
		fmt.Fprintf(&b, "\nSession: %s\n", inline(r.Session))
	}
	b.WriteString("\n")
	return b.String()
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }

// inline is a text in one line of Markdown that means nothing but itself: what Markdown or HTML could take for a mark of theirs is
// written as a character reference.
func inline(text string) string {
	var b strings.Builder
	for _, c := range printable.Line(text) {
		if strings.ContainsRune("&<>\"'|`*_[]()!~\\#@:", c) {
			fmt.Fprintf(&b, "&#%d;", c)
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}
