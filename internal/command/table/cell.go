package table

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/verdict"
)

// OneLine makes a text fit into a table.
func OneLine(text string, most int) string {
	return printable.CutEnd(printable.Line(text), most, "…")
}

// Outcome is the status of a session.
func Outcome(status string) term.Piece { return outcome(status, status) }

// outcome is a text in the style of a class or a status.
func outcome(of, text string) term.Piece {
	switch of {
	case "interrupted", "breaker_open":
		return term.Styled(term.Warning, text)
	case "ok", "done":
		return term.Styled(term.Good, text)
	case "running":
		return term.Styled(term.Plain, text)
	case "abandoned":
		return term.Styled(term.Faint, text)
	}
	return term.Styled(term.Bad, text)
}

// ResultOf is the class of a run in words, and whether it is to be repeated. code is its exit code.
func ResultOf(status, class string, code int) term.Piece {
	text := message.ClassName(class, code)
	if status == "retry" {
		return term.Styled(term.Warning, text+", retried")
	}
	return outcome(class, text)
}

// WhyOf is what happened to a run last, and why it ended with that. Of a run that was interrupted the one says the other.
func WhyOf(class, err, why string) string {
	if class == string(verdict.Interrupted) && why != "" {
		return why
	}
	return OneLine(message.Sentences(err, why), 300)
}

// LabelsOf are the labels of a run, and which task of a batch it is.
func LabelsOf(name string, tags map[string]string, task record.Task) string {
	text := label.Labels{Name: name, Tags: tags}.String()
	if task.Batch != "" {
		text = strings.TrimSpace(text + " " + message.TaskOfBatch(filepath.Base(task.Batch), task.Task, task.Line))
	}
	return OneLine(text, 60)
}

// RunOf is as much of a run's id as tells it from others.
func RunOf(id string) string { return OneLine(printable.ShortID(id), 8) }

// Span is a number of milliseconds; empty for 0.
func Span(ms int64) string {
	if ms == 0 {
		return ""
	}
	return term.Span(time.Duration(ms) * time.Millisecond)
}

// Size is a number of bytes; empty for 0.
func Size(n int64) string {
	if n == 0 {
		return ""
	}
	return term.Size(n)
}

// NonZero is a number; empty for 0.
func NonZero(n int64) string {
	if n == 0 {
		return ""
	}
	return Thousands(n)
}

// Thousands writes 1234567 as 1,234,567.
func Thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count is a number of things: 1 run, 1,234 runs.
func Count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return Thousands(n) + " " + what + "s"
}

// Times is how often something happened.
func Times(n int64) string {
	if n == 1 {
		return "once"
	}
	return Thousands(n) + " times"
}

// TokensOf are tokens; empty for none.
func TokensOf(in, out int64) string {
	if in == 0 && out == 0 {
		return ""
	}
	return fmt.Sprintf("%s in, %s out", Thousands(in), Thousands(out))
}

// Dollars is an amount; empty where it is not known.
func Dollars(c *float64) string {
	if c == nil {
		return ""
	}
	return printable.Dollars(*c)
}

// CostOf is what is known of the cost: ~ stands before an estimate, ≥ before what is not all. Empty for none.
func CostOf(u verdict.Usage) string {
	switch {
	case u.CostUSD != nil && *u.CostUSD != 0:
	case u.CostUnknown():
		return "unknown"
	default:
		return ""
	}
	text := Dollars(u.CostUSD)
	if u.Estimated {
		text = "~" + text
	}
	if u.Unknown {
		text = "≥ " + text
	}
	return text
}
