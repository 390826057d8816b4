package scenario

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/actions"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/rehearse/rehearsal"
	"github.com/belay-run/belay/internal/term"
)

// Outcome is what came of a scenario, as programs read it too: fields are only ever added.
type Outcome struct {
	SchemaVersion int                 `json:"schema_version"`
	Name          string              `json:"name"`
	File          string              `json:"file"`
	Passed        bool                `json:"passed"`
	Error         *string             `json:"error"` // why it could not be tried
	Failures      []Failure           `json:"failures"`
	DurationMS    int64               `json:"duration_ms"`
	ExitCode      *int                `json:"exit_code"`
	Class         string              `json:"class"`
	Requests      []rehearsal.Request `json:"requests"`
	Figures       map[string]float64  `json:"figures"`
	Advice        string              `json:"advice"`

	Scenario *Scenario `json:"-"`
	Seen     *Seen     `json:"-"` // nil if it could not be tried
}

// Report is what came of all scenarios, in their order.
type Report []Outcome

// outcome is what came of a scenario that took so long.
func outcome(s *Scenario, seen *Seen, err error, took time.Duration) Outcome {
	o := Outcome{SchemaVersion: 1, Name: s.Name, File: s.File, Failures: []Failure{}, DurationMS: took.Milliseconds(), Requests: []rehearsal.Request{},
		Figures: map[string]float64{}, Scenario: s, Seen: seen}
	if err != nil {
		o.Error = new(err.Error())
		return o
	}
	o.Failures = append(o.Failures, s.Expect.Check(seen)...)
	if o.Passed = len(o.Failures) == 0; !o.Passed {
		o.Advice = seen.Advice()
	}
	o.ExitCode, o.Class, o.Figures = &seen.Exit, seen.class(), seen.figures()
	o.Requests = rehearsal.Requests(seen.Requests)
	maps.DeleteFunc(o.Figures, func(key string, _ float64) bool { return strings.Contains(key, " ") })
	return o
}

// Run tries scenarios, in which belay is this executable, some at a time, and tells of each at its end.
func Run(ctx context.Context, belay string, scenarios []*Scenario, atATime int, done func(Outcome)) Report {
	report := make(Report, len(scenarios))
	var running sync.WaitGroup
	free := make(chan struct{}, max(1, atATime))
	var telling sync.Mutex
	for i, s := range scenarios {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			begun := time.Now()
			seen, err := s.Run(ctx, belay)
			report[i] = outcome(s, seen, err, time.Since(begun))
			if ctx.Err() == nil { // otherwise its end says nothing of the program
				telling.Lock()
				defer telling.Unlock()
				done(report[i])
			}
		})
	}
	running.Wait()
	return report
}

// Failed is how many are not as expected.
func (r Report) Failed() (n int) {
	for _, o := range r {
		if !o.Passed {
			n++
		}
	}
	return n
}

// seconds is how long it took.
func (o Outcome) seconds() float64 { return float64(o.DurationMS) / 1000 }

// WriteText writes an outcome for people: a line, and for a failure what was expected, what was requested, and the advice.
func (o Outcome) WriteText(w io.Writer) error {
	p := term.PaletteOf(w)
	style, word := term.Good, "ok"
	if !o.Passed {
		style, word = term.Bad, "FAIL"
	}
	err := errors.Join(p.Text(w, style, fmt.Sprintf("%-4s", word)), term.Printf(w, "  %s  (%.1fs)\n", o.Name, o.seconds()))
	look := term.LookOf(w)
	look.Width = max(0, look.Width-8)
	for _, line := range o.lines(look) {
		_, wrong := io.WriteString(w, "        "+strings.ReplaceAll(line, "\n", "\n        ")+"\n")
		err = errors.Join(err, wrong)
	}
	return err
}

// Why is the first thing that is wrong; empty if nothing is.
func (o Outcome) Why() string {
	return slices.Concat(o.lines(term.Look{}), []string{""})[0]
}

// text is all that is wrong.
func (o Outcome) text() string { return strings.Join(o.lines(term.Look{}), "\n") }

// maxRequests is how many requests a failure shows: a program that asks in a loop has thousands.
const maxRequests = 20

// lines say what is wrong; there are none if nothing is. The look is that of the table of requests.
func (o Outcome) lines(look term.Look) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, printable.Line(fmt.Sprintf(format, args...))) }
	if o.Error != nil {
		add("cannot be run: %s", *o.Error)
	}
	if o.Error != nil || o.Passed {
		return lines
	}
	for _, f := range o.Failures {
		add("%s", f)
	}
	requests := o.Seen.Requests
	if len(requests) > maxRequests {
		add("the first %d of %d requests:", maxRequests, len(requests))
		requests = requests[:maxRequests]
	}
	if len(requests) > 0 {
		for _, line := range rehearsal.Table(requests, o.Seen.Begun).Lines(look) {
			lines = append(lines, strings.TrimRight(line, " \n"))
		}
	}
	if o.Scenario.Script != "" && len(o.Seen.Unused) > 0 {
		add("not reached: %s", strings.Join(o.Seen.Unused, ", "))
	}
	for _, stream := range []struct{ name, text string }{{"stdout", o.Seen.Stdout}, {"stderr", o.Seen.Stderr}} {
		if stream.text != "" {
			add("%s ended with %s", stream.name, quoted(stream.text))
		}
	}
	if o.Advice != "" {
		add("%s", o.Advice)
	}
	return lines
}

// Sum is one line on all of them.
func (r Report) Sum(took time.Duration) string {
	return fmt.Sprintf("%s, %d failed, in %.1fs", message.Count(len(r), "scenario"), r.Failed(), took.Seconds())
}

// WriteJUnit writes the report in the form that CI systems read.
func (r Report) WriteJUnit(w io.Writer, took time.Duration) error {
	escape := func(text string) string {
		var b strings.Builder
		xml.EscapeText(&b, []byte(printable.Text(text)))
		return b.String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, `%s<testsuite name="belay rehearse test" tests="%d" failures="%d" time="%.3f">`+"\n", xml.Header, len(r), r.Failed(), took.Seconds())
	for _, o := range r {
		fmt.Fprintf(&b, `  <testcase name="%s" classname="%s" time="%.3f">`, escape(o.Name), escape(o.File), o.seconds())
		if !o.Passed {
			fmt.Fprintf(&b, `<failure message="%s">%s</failure>`, escape(o.Why()), escape(o.text()))
		}
		b.WriteString("</testcase>\n")
	}
	b.WriteString("</testsuite>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// Annotation is a line that GitHub Actions shows beside the change; empty if the scenario has passed.
func (o Outcome) Annotation() string {
	if o.Passed {
		return ""
	}
	return actions.Error(o.File, "belay rehearse test: "+o.Name, o.text())
}

// Summary is a table for the summary of the step in GitHub Actions.
func (r Report) Summary(took time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### belay rehearse test: %s\n\n| scenario | result | time |\n|---|---|---|\n", r.Sum(took))
	for _, o := range r {
		result := "ok"
		if !o.Passed {
			result = "**failed**: " + actions.Code(o.Why())
		}
		fmt.Fprintf(&b, "| %s | %s | %.1fs |\n", actions.Code(o.Name), result, o.seconds())
	}
	return b.String()
}
