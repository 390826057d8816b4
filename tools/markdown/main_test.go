package main

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/actions"
	"github.com/belay-run/belay/internal/actionstest"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
)

func TestRead(t *testing.T) {
	got := read([]byte("### a `b`\n\ntext &#124; <b>x</b>\n\n| a | b |\n|---|---|\n| `c` | [d](http://x) |\n"))
	want := document{Headings: []string{"a b"}, Paragraphs: []string{"text | x"}, Tables: [][][]string{{{"a", "b"}, {"c", "d"}}}, Others: []string{"RawHTML", "RawHTML", "Link"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

// FuzzSummary looks for a text that is anything else than text in the summary of a step: every text is where it belongs, and there is
// nothing that Belay has not put there.
func FuzzSummary(f *testing.F) {
	for _, text := range actionstest.Hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1000 {
			t.Skip("long texts are cut")
		}
		r := actions.Report{Command: text, Class: text, Error: text, Session: text, Attempts: 2, Retried: []actions.Failure{{Attempt: 1, Class: text, Text: text}}, Waited: time.Second, ExitCode: 75}
		got, line, class := read([]byte(r.Summary())), printable.Line(text), printable.Line(message.ClassName(text, 0))
		want := document{
			Headings: []string{"belay: " + line},
			Tables: [][][]string{
				{{"result", "exit code", "attempts", "waited", "took", "tokens in", "tokens out", "cost"},
					{"❌ " + class, "75", "2", "1s", "0s", "0", "0", "unknown"}},
				{{"attempt", "error", "times", "what went wrong"}, {"1", class, "1", line}, {"2", class, "1", line}},
			},
		}
		if text != "" {
			want.Paragraphs = []string{"Session: " + line}
		}
		if !equal(got, want) {
			t.Errorf("%q\n%s\nis  %q\nnot %q", text, r.Summary(), got, want)
		}
	})
}

// equal compares two documents. Spaces at the ends of a text are not seen.
func equal(a, b document) bool {
	trim := func(d document) document {
		each := func(list []string) (trimmed []string) {
			for _, text := range list {
				trimmed = append(trimmed, strings.Trim(text, " "))
			}
			return trimmed
		}
		t := document{Headings: each(d.Headings), Paragraphs: each(d.Paragraphs), Others: d.Others}
		for _, table := range d.Tables {
			var rows [][]string
			for _, row := range table {
				rows = append(rows, each(row))
			}
			t.Tables = append(t.Tables, rows)
		}
		return t
	}
	return reflect.DeepEqual(trim(a), trim(b))
}
