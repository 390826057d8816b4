package claude_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/belay-run/belay/agent/claude"
	"github.com/belay-run/belay/verdict"
)

// outcome is a real outcome and the verdict it deserves.
type outcome struct {
	ID       string
	ExitCode *int `json:"exit_code"`
	Signal   string
	Stdout   string
	Stderr   string
	Lenient  []string
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

func TestJudge_RealOutcomes(t *testing.T) {
	f, err := os.Open("testdata/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	n := 0
	for lines.Scan() {
		var c outcome
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		n++
		t.Run(c.ID, func(t *testing.T) { c.check(t) })
	}
	if n < 50 {
		t.Errorf("only %d outcomes", n)
	}
}

func (c *outcome) check(t *testing.T) {
	o := verdict.Outcome{ExitCode: -1, Signal: c.Signal, Stdout: verdict.ExcerptOf(c.Stdout), Stderr: verdict.ExcerptOf(c.Stderr)}
	if c.ExitCode != nil {
		o.ExitCode = *c.ExitCode
	}
	v := claude.New([]string{"claude", "-p"}, []string{}).Judge(o, time.Date(2026, 11, 15, 1, 0, 0, 0, time.UTC))
	if v.Class != c.Expect.Class || v.Retryable != c.Expect.Retryable {
		t.Errorf("%s, retryable %v by %s (%q); want %s, %v", v.Class, v.Retryable, v.Rule, v.Evidence, c.Expect.Class, c.Expect.Retryable)
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
		t.Errorf("%s: %s, want %s", field, show(got), show(want))
	}
}

func show(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}
