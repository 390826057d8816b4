package scenario

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/actions"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/term"
)

// Outcome is what came of a scenario.
type Outcome struct {
	Scenario *Scenario
	Seen     *Seen // nil if it could not be tried
	Failures []Failure
	Err      error // why it could not be tried
	Took     time.Duration
}

// Passed says that all was as expected.
func (o Outcome) Passed() bool { return o.Err == nil && len(o.Failures) == 0 }

// Report is what came of all scenarios, in their order.
type Report []Outcome

// Run tries scenarios, some at a time, and tells of each at its end.
func Run(ctx context.Context, host Host, scenarios []*Scenario, atATime int, done func(Outcome)) Report {
	report := make(Report, len(scenarios))
	var running sync.WaitGroup
	free := make(chan struct{}, max(1, atATime))
	var telling sync.Mutex
	for i, s := range scenarios {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			begun := time.Now()
			seen, err := s.Run(ctx, host)
			o := Outcome{Scenario: s, Seen: seen, Err: err, Took: time.Since(begun)}
			if ctx.Err() != nil { // its end says nothing of the program
				report[i] = o
				return
			}
			if err == nil {
				o.Failures = s.Expect.Check(seen)
			}
			report[i] = o
			telling.Lock()
			defer telling.Unlock()
			done(o)
		})
	}
	running.Wait()
	return report
}

// Failed is how many are not as expected.
func (r Report) Failed() (n int) {
	for _, o := range r {
		if !o.Passed() {
			n++
		}
	}
	return n
}

// WriteText writes an outcome for people: a line, and for a failure what was expected, what was requested, and the advice.
func (o Outcome) WriteText(w io.Writer) error {
	p := term.PaletteOf(w)
	style, word := term.Good, "ok"
	if !o.Passed() {
		style, word = term.Bad, "FAIL"
	}
	err := errors.Join(p.Text(w, style, fmt.Sprintf("%-4s", word)), term.Printf(w, "  %s  (%.1fs)\n", o.Scenario.Name, o.Took.Seconds()))
	for _, line := range o.lines() {
		err = errors.Join(err, term.Printf(w, "        %s\n", printable.Line(line)))
	}
	return err
}

// lines say what is wrong; there are none if nothing is.
func (o Outcome) lines() (lines []string) {
	if o.Err != nil {
		return []string{"cannot be run: " + o.Err.Error()}
	}
	if o.Passed() {
		return nil
	}
	for _, f := range o.Failures {
		lines = append(lines, f.String())
	}
	for i, r := range o.Seen.Requests {
		lines = append(lines, fmt.Sprintf("request %d: at %.2fs, %.2fs after the one before: %s %s %s → %s", i+1, r.At.Sub(o.Seen.Begun).Seconds(), r.Gap.Seconds(),
			r.Method, r.Path, r.Model, cmp.Or(r.Step, "200")+answer(r.Status)))
	}
	if len(o.Seen.Unused) > 0 {
		lines = append(lines, "not reached: "+strings.Join(o.Seen.Unused, ", "))
	}
	for _, stream := range []struct{ name, text string }{{"stdout", o.Seen.Stdout}, {"stderr", o.Seen.Stderr}} {
		if stream.text != "" {
			lines = append(lines, stream.name+" ended with "+quoted(stream.text))
		}
	}
	if advice := o.Seen.Advice(); advice != "" {
		lines = append(lines, advice)
	}
	return lines
}

func answer(status int) string {
	if status == 0 {
		return " (no answer)"
	}
	return fmt.Sprintf(" (%d)", status)
}

// Sum is one line on all of them.
func (r Report) Sum(took time.Duration) string {
	return fmt.Sprintf("%s, %d failed, in %.1fs", message.Count(len(r), "scenario"), r.Failed(), took.Seconds())
}

// outcomeJSON is an outcome for programs. Fields are only ever added.
type outcomeJSON struct {
	SchemaVersion int                `json:"schema_version"`
	Name          string             `json:"name"`
	File          string             `json:"file"`
	Passed        bool               `json:"passed"`
	Error         *string            `json:"error"`
	Failures      []failureJSON      `json:"failures"`
	DurationMS    int64              `json:"duration_ms"`
	ExitCode      *int               `json:"exit_code"`
	Class         string             `json:"class"`
	Requests      []requestJSON      `json:"requests"`
	Figures       map[string]float64 `json:"figures"`
	Advice        string             `json:"advice"`
}

type failureJSON struct {
	What string `json:"what"`
	Want string `json:"expected"`
	Got  string `json:"got"`
}

type requestJSON struct {
	AtMS   int64  `json:"at_ms"`
	GapMS  int64  `json:"gap_ms"`
	Method string `json:"method"`
	Path   string `json:"path"`
	Model  string `json:"model"`
	Step   string `json:"step"`
	Status int    `json:"status"`
}

// WriteJSON writes an object for each scenario, one a line.
func (r Report) WriteJSON(w io.Writer) error {
	var list []outcomeJSON
	for _, o := range r {
		j := outcomeJSON{SchemaVersion: 1, Name: o.Scenario.Name, File: o.Scenario.path, Passed: o.Passed(), Failures: []failureJSON{}, DurationMS: o.Took.Milliseconds(),
			Requests: []requestJSON{}, Figures: map[string]float64{}}
		for _, f := range o.Failures {
			j.Failures = append(j.Failures, failureJSON(f))
		}
		if o.Err != nil {
			text := o.Err.Error()
			j.Error = &text
		}
		if s := o.Seen; s != nil {
			j.ExitCode, j.Class = &s.Exit, s.class()
			if !o.Passed() {
				j.Advice = s.Advice()
			}
			for _, q := range s.Requests {
				j.Requests = append(j.Requests, requestJSON{q.At.Sub(s.Begun).Milliseconds(), q.Gap.Milliseconds(), q.Method, q.Path, q.Model, q.Step, q.Status})
			}
			for _, f := range figures {
				j.Figures[f.name] = f.got(s)
			}
		}
		list = append(list, j)
	}
	return term.JSONLines(w, list)
}

// WriteJUnit writes the report in the form that CI systems read.
func (r Report) WriteJUnit(w io.Writer, took time.Duration) error {
	type failure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	type testcase struct {
		Name    string   `xml:"name,attr"`
		File    string   `xml:"classname,attr"`
		Time    string   `xml:"time,attr"`
		Failure *failure `xml:"failure,omitempty"`
		Error   *failure `xml:"error,omitempty"`
	}
	suite := struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Time     string     `xml:"time,attr"`
		Cases    []testcase `xml:"testcase"`
	}{Name: "belay rehearse test", Tests: len(r), Failures: r.Failed(), Time: fmt.Sprintf("%.3f", took.Seconds())}
	for _, o := range r {
		c := testcase{Name: o.Scenario.Name, File: o.Scenario.path, Time: fmt.Sprintf("%.3f", o.Took.Seconds())}
		f := &failure{Text: printable.Text(strings.Join(o.lines(), "\n"))}
		switch {
		case o.Err != nil:
			f.Message, c.Error = o.Err.Error(), f
		case len(o.Failures) > 0:
			f.Message, c.Failure = o.Failures[0].String(), f
		}
		suite.Cases = append(suite.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	return errors.Join(e.Encode(suite), e.Close())
}

// Annotation is a line that GitHub Actions shows beside the change; empty if the scenario has passed.
func (o Outcome) Annotation() string {
	if o.Passed() {
		return ""
	}
	return actions.Error(o.Scenario.path, "belay rehearse test: "+o.Scenario.Name, strings.Join(o.lines(), "\n"))
}

// Summary is a table for the summary of the step in GitHub Actions.
func (r Report) Summary(took time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### belay rehearse test: %s\n\n| scenario | result | time |\n|---|---|---|\n", r.Sum(took))
	for _, o := range r {
		result := "ok"
		if lines := o.lines(); len(lines) > 0 {
			result = "**failed**: " + actions.Code(lines[0])
		}
		fmt.Fprintf(&b, "| %s | %s | %.1fs |\n", actions.Code(o.Scenario.Name), result, o.Took.Seconds())
	}
	return b.String()
}
