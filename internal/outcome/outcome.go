// Package outcome reads outcomes of commands that were saved, and holds verdicts against those that they deserve.
//
// A file has one JSON object a line: id, exit_code (null after a death by signal), signal, stdout, stderr and expect, which has what
// is known of the verdict: class, retryable, retry_after_s, reset_at, session_id, input_tokens, output_tokens, cost_usd. What expect
// leaves out is not compared; null means that the verdict must not have it. profile, version, mode and note are for people, except
// that outcomes of other profiles are passed over.
package outcome

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/verdict"
)

// Saved is an outcome and the verdict that it deserves.
type Saved struct {
	ID       string                     `json:"id"`
	Profile  string                     `json:"profile,omitempty"`
	Version  string                     `json:"version,omitempty"`
	Mode     string                     `json:"mode,omitempty"`
	ExitCode *int                       `json:"exit_code"`
	Signal   string                     `json:"signal,omitempty"`
	Stdout   string                     `json:"stdout"`
	Stderr   string                     `json:"stderr"`
	Expect   map[string]json.RawMessage `json:"expect"`
	Lenient  []string                   `json:"lenient,omitempty"` // fields that are a matter of convention
	Note     string                     `json:"note,omitempty"`
}

// maxLine is more than an outcome has: of long output only the begin and the end count.
const maxLine = 64 << 20

// Read reads saved outcomes. An error says in which line.
func Read(r io.Reader) (list []Saved, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		var s Saved
		if err := json.Unmarshal(text, &s); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if _, err := verdict.ParseClass(s.Class()); err != nil {
			return nil, fmt.Errorf("line %d: expect.class: %w", n, err)
		}
		if s.ID == "" {
			s.ID = fmt.Sprintf("line %d", n)
		}
		list = append(list, s)
	}
	return list, lines.Err()
}

// New is an outcome to be saved, with the class that it deserves; an empty one means that of the verdict.
func New(profile string, o verdict.Outcome, v verdict.Verdict, class verdict.Class) Saved {
	s := Saved{Profile: profile, Signal: o.Signal, Stdout: o.Stdout.Text(), Stderr: o.Stderr.Text()}
	if o.Signal == "" {
		s.ExitCode = &o.ExitCode
	}
	retryable := class.Retryable()
	if class == "" {
		class, retryable = v.Class, v.Retryable
	}
	s.ID = fmt.Sprintf("%s-%s-%s", profile, class, time.Now().UTC().Format("20060102-150405"))
	s.Expect = map[string]json.RawMessage{}
	for field, value := range map[string]any{"class": class, "retryable": retryable} {
		s.Expect[field], _ = json.Marshal(value)
	}
	return s
}

// Outcome is the outcome as a profile judges it.
func (s *Saved) Outcome() verdict.Outcome {
	o := verdict.Outcome{ExitCode: -1, Signal: s.Signal, Stdout: verdict.ExcerptOf(s.Stdout), Stderr: verdict.ExcerptOf(s.Stderr)}
	if s.ExitCode != nil {
		o.ExitCode = *s.ExitCode
	}
	return o
}

// Class is the class that the outcome deserves.
func (s *Saved) Class() string {
	var class string
	json.Unmarshal(s.Expect["class"], &class)
	return class
}

// fields are what verdicts are compared by, in the order in which differences are told.
var fields = []string{"class", "retryable", "retry_after_s", "reset_at", "session_id", "input_tokens", "output_tokens", "cost_usd"}

// Difference is a field of a verdict that is not as expected. Nil stands for none.
type Difference struct {
	Field     string
	Got, Want any
}

func (d Difference) String() string {
	return fmt.Sprintf("%s %s instead of %s", d.Field, shown(d.Got), shown(d.Want))
}

func shown(v any) string {
	if v == nil {
		return "none"
	}
	return strings.Trim(fmt.Sprint(v), `"`)
}

// Compare says in what a verdict differs from the one that the outcome deserves.
func (s *Saved) Compare(v verdict.Verdict) (list []Difference) {
	got := map[string]any{}
	data, err := json.Marshal(v)
	if err != nil || json.Unmarshal(data, &got) != nil {
		return []Difference{{Field: "verdict", Got: err}}
	}
	usage, _ := got["usage"].(map[string]any)
	got["input_tokens"], got["output_tokens"], got["cost_usd"] = usage["input_tokens"], usage["output_tokens"], usage["total_cost_usd"]
	for _, field := range fields {
		raw, given := s.Expect[field]
		if !given || slices.Contains(s.Lenient, field) {
			continue
		}
		var want any
		if json.Unmarshal(raw, &want) != nil || got[field] != want {
			list = append(list, Difference{field, got[field], want})
		}
	}
	return list
}
