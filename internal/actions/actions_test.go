package actions_test

import (
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/actions"
	"github.com/belay-run/belay/internal/actionstest"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
)

var cost = 0.1234

var failed = actions.Report{Command: "claude", Class: "usage_limit", Error: "claude hit its usage limit", Attempts: 2, Retried: []actions.Failure{{Attempt: 1, Class: "rate_limit", Text: "claude hit a rate limit"}},
	Waited: 2 * time.Second, Duration: 3100 * time.Millisecond, ExitCode: 75, Session: "0b1c", Input: 12, Output: 3, Cost: &cost}

func TestAnnotation(t *testing.T) {
	if got := failed.Annotation(); got != "::error title=belay%3A claude failed (usage limit)::claude hit its usage limit\n" {
		t.Errorf("%q", got)
	}
	named := failed
	named.Name = "nightly"
	if got := named.Annotation(); got != "::error title=belay%3A nightly%3A claude failed (usage limit)::claude hit its usage limit\n" || !strings.HasPrefix(named.Summary(), "### belay: `nightly: claude`\n") {
		t.Errorf("%q", got)
	}
	retried := failed
	retried.Success = true
	if got := retried.Annotation(); got != "::warning title=belay%3A claude succeeded after retries (rate limit)::rate limit: claude hit a rate limit\n" {
		t.Errorf("%q", got)
	}
	retried.Retried = nil
	if got := retried.Annotation(); got != "" {
		t.Errorf("%q for a run that just worked", got)
	}
}

func TestSummary(t *testing.T) {
	want := strings.ReplaceAll(`### belay: 'claude'

| result | exit code | attempts | waited | took | tokens in | tokens out | cost |
|---|--:|--:|--:|--:|--:|--:|--:|
| ❌ 'usage limit' | 75 | 2 | 2s | 3.1s | 12 | 3 | $0.1234 |

| attempt | error | times | what went wrong |
|--:|---|--:|---|
| 1 | 'rate limit' | 1 | 'claude hit a rate limit' |
| 2 | 'usage limit' | 1 | 'claude hit its usage limit' |

Session: '0b1c'

`, "'", "`")
	if got := failed.Summary(); got != want {
		t.Errorf("%s", got)
	}
}

// A summary that is too large is dropped by the runner: what is alike is counted, and of a thousand others the first ones and the last one are shown.
func TestSummary_ManyFailures(t *testing.T) {
	r := actions.Report{Command: "claude", Class: "rate_limit", Error: "the last one", Attempts: 1001}
	for range 3 {
		r.Add(actions.Failure{Attempt: 1, Class: "overloaded", Text: "busy"})
	}
	for i := range 1000 {
		r.Add(actions.Failure{Attempt: i + 1, Class: "rate_limit", Text: strings.Repeat("☃", 3000)})
	}
	got := r.Summary()
	for _, want := range []string{"| 1 | `overloaded server` | 3 | `busy` |\n", "| | | | … and 952 more |\n", "| 1001 | `rate limit` | 1 | `the last one` |\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %s", want)
		}
	}
	if len(got) > 1<<20 {
		t.Errorf("%d bytes", len(got))
	}
}

// FuzzForgery looks for a text that becomes a command or an output of its own. What it makes of the summary is tried with a parser of
// Markdown, in tools/markdown.
func FuzzForgery(f *testing.F) {
	for _, text := range actionstest.Hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := failed
		r.Error, r.Session, r.Command, r.Retried, r.Class = text, text, text, []actions.Failure{{Attempt: 1, Class: text, Text: text}}, text
		for _, success := range []bool{true, false} {
			r.Success = success
			level := map[bool]string{true: "warning", false: "error"}[success]
			class, ended := message.ClassName(text, 0), message.ClassName(text, r.ExitCode)
			title := map[bool]string{true: "belay: " + text + " succeeded after retries (" + class + ")", false: "belay: " + text + " failed (" + ended + ")"}[success]
			data := map[bool]string{true: class + ": " + text, false: text}[success]
			got := actionstest.Commands(r.Annotation())
			if len(got) != 1 || got[0].Name != level || len(got[0].Properties) != 1 || got[0].Properties["title"] != printable.Line(title) || got[0].Data != printable.Text(data) {
				t.Errorf("%q", got)
			}
			outputs, err := actionstest.Outputs(r.Outputs())
			if err != nil || len(outputs) != 6 || outputs["session_id"] != printable.Line(text) || outputs["attempts"] != "2" {
				t.Errorf("%q, %v", outputs, err)
			}
		}
		if got := actionstest.Commands("belay: " + actions.Line(printable.Line(text))); len(got) > 0 {
			t.Errorf("%q", got)
		}
	})
}
