// Package agenttest holds profiles against real outcomes that were labelled by hand.
package agenttest

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// outcome is a real one and the verdict it deserves.
type outcome struct {
	ID       string
	ExitCode *int `json:"exit_code"`
	Signal   string
	Stdout   string
	Stderr   string
	Lenient  []string // fields that are a matter of convention in this case
	Expect   struct {
		Class      verdict.Class
		Retryable  bool
		RetryAfter *float64 `json:"retry_after_s"`
		ResetAt    *string  `json:"reset_at"`
		Session    *string  `json:"session_id"`
		Input      *float64 `json:"input_tokens"`
		Output     *float64 `json:"output_tokens"`
		Cost       *float64 `json:"cost_usd"`
	}
}

// Outcomes has a profile judge, at now, every outcome of a file of JSON lines, of which there must be so many at least.
func Outcomes(t *testing.T, path string, least int, now time.Time, p agent.Profile) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	n := 0
	for ; lines.Scan(); n++ {
		var o outcome
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			t.Fatal(err)
		}
		t.Run(o.ID, func(t *testing.T) { o.check(t, p, now) })
	}
	if err := lines.Err(); err != nil || n < least {
		t.Errorf("%d outcomes, %v", n, err)
	}
}

// check compares what `belay explain --json` would print.
func (c *outcome) check(t *testing.T, p agent.Profile, now time.Time) {
	o := verdict.Outcome{ExitCode: -1, Signal: c.Signal, Stdout: verdict.ExcerptOf(c.Stdout), Stderr: verdict.ExcerptOf(c.Stderr)}
	if c.ExitCode != nil {
		o.ExitCode = *c.ExitCode
	}
	v := p.Judge(o, now)
	if v.Class != c.Expect.Class || v.Retryable != c.Expect.Retryable {
		t.Errorf("%s, retryable %v, by %s (%q); want %s, %v", v.Class, v.Retryable, v.Rule, v.Evidence, c.Expect.Class, c.Expect.Retryable)
	}
	if v.Class != verdict.OK && v.Evidence == "" {
		t.Error("no evidence")
	}
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		RetryAfter *float64 `json:"retry_after_s"`
		ResetAt    *string  `json:"reset_at"`
		Session    *string  `json:"session_id"`
		Usage      struct {
			Input  *float64 `json:"input_tokens"`
			Output *float64 `json:"output_tokens"`
			Cost   *float64 `json:"total_cost_usd"`
		}
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	same(t, c, "retry_after_s", got.RetryAfter, c.Expect.RetryAfter)
	same(t, c, "reset_at", got.ResetAt, c.Expect.ResetAt)
	same(t, c, "session_id", got.Session, c.Expect.Session)
	same(t, c, "input_tokens", got.Usage.Input, c.Expect.Input)
	same(t, c, "output_tokens", got.Usage.Output, c.Expect.Output)
	same(t, c, "cost_usd", got.Usage.Cost, c.Expect.Cost)
}

func same[T comparable](t *testing.T, c *outcome, field string, got, want *T) {
	t.Helper()
	if slices.Contains(c.Lenient, field) || got == nil && want == nil {
		return
	}
	if got == nil || want == nil || *got != *want {
		t.Errorf("%s: %s, want %s", field, shown(got), shown(want))
	}
}

func shown(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}
