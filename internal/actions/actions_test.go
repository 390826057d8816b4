package actions_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/actions"
)

var cost = 0.1234

var failed = actions.Report{Command: "claude", Class: "usage_limit", Error: "claude hit its usage limit", Attempts: 2, Earlier: []string{"claude hit a rate limit"},
	Waited: 2 * time.Second, Duration: 3100 * time.Millisecond, ExitCode: 75, Session: "0b1c", Input: 12, Output: 3, Cost: &cost}

func TestAnnotation(t *testing.T) {
	if got := failed.Annotation(); got != "::error title=belay%3A claude failed (usage_limit)::claude hit its usage limit\n" {
		t.Errorf("%q", got)
	}
	retried := failed
	retried.Success = true
	if got := retried.Annotation(); got != "::warning title=belay%3A claude succeeded at attempt 2::claude hit a rate limit\n" {
		t.Errorf("%q", got)
	}
	retried.Earlier = nil
	if got := retried.Annotation(); got != "" {
		t.Errorf("%q for a run that just worked", got)
	}
}

func TestSummary(t *testing.T) {
	want := `### belay: claude

| result | exit code | attempts | waited | took | tokens in | tokens out | cost |
|---|--:|--:|--:|--:|--:|--:|--:|
| ❌ usage&#95;limit | 75 | 2 | 2s | 3.1s | 12 | 3 | $0.1234 |

| attempt | what went wrong |
|--:|---|
| 1 | claude hit a rate limit |
| 2 | claude hit its usage limit |

Session: 0b1c

`
	if got := failed.Summary(); got != want {
		t.Errorf("%s", got)
	}
}

// FuzzForgery looks for a text that becomes a command, an output, a row or a mark of its own.
func FuzzForgery(f *testing.F) {
	for _, text := range []string{"x\n::set-output name=a::b", "x%0A::error::y", "a\r\n::add-mask::x", "a\nsession_id<<EOF\nevil\nEOF\n", "| a | b |\n|---|---|", "<img src=x>",
		"[a](http://x)", "`code", "\x1b[31m", "belay_\n", "**b**", "\\|", "]]>", "a\u2028::error::b"} {
		f.Add(text)
	}
	row := regexp.MustCompile(`^(\|[^|]*)+\|$`)
	f.Fuzz(func(t *testing.T, text string) {
		r := failed
		r.Error, r.Session, r.Command, r.Earlier, r.Class = text, text, text, []string{text}, text
		for _, success := range []bool{true, false} {
			r.Success = success
			if got := r.Annotation(); strings.Count(got, "\n") != 1 || strings.ContainsAny(got, "\r\x1b") || strings.Count(got[:strings.Index(got[2:], "::")+2], "::") != 1 {
				t.Errorf("%q", got)
			}
			lines := strings.Split(strings.TrimSuffix(r.Outputs(), "\n"), "\n")
			if len(lines) != 6*3 {
				t.Fatalf("%q", lines)
			}
			for i := 0; i < len(lines); i += 3 {
				_, end, ok := strings.Cut(lines[i], "<<")
				if !ok || lines[i+2] != end || lines[i+1] == end {
					t.Errorf("%q", lines[i:i+3])
				}
			}
			columns := map[int]int{}
			for _, line := range strings.Split(r.Summary(), "\n") {
				switch {
				case strings.HasPrefix(line, "|") && row.MatchString(line):
					columns[strings.Count(line, "|")]++
				case line != "" && !strings.HasPrefix(line, "### belay: ") && !strings.HasPrefix(line, "Session: "):
					t.Errorf("%q", line)
				case strings.ContainsAny(line, "<>`[]*|"):
					t.Errorf("%q", line)
				}
			}
			if columns[9] != 3 || len(columns) != 2 {
				t.Errorf("%v in %s", columns, r.Summary())
			}
		}
	})
}
