package gh_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/belay-run/belay/agent/gh"
	"github.com/belay-run/belay/verdict"
)

var now = time.Date(2026, 11, 15, 0, 30, 0, 0, time.UTC)

// TestCases judges real outcomes of gh that were labelled by hand.
func TestCases(t *testing.T) {
	f, err := os.Open("testdata/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var c struct {
			ID             string
			ExitCode       *int `json:"exit_code"`
			Signal         *string
			Stdout, Stderr string
			Lenient        []string
			Expect         struct {
				Class      verdict.Class
				Retryable  bool
				RetryAfter *float64 `json:"retry_after_s"`
				ResetAt    *string  `json:"reset_at"`
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		t.Run(c.ID, func(t *testing.T) {
			o := verdict.Outcome{ExitCode: -1, Stdout: verdict.ExcerptOf(c.Stdout), Stderr: verdict.ExcerptOf(c.Stderr)}
			if c.ExitCode != nil {
				o.ExitCode = *c.ExitCode
			}
			if c.Signal != nil {
				o.Signal = *c.Signal
			}
			v := gh.New(nil, nil, "").Judge(o, now)
			if v.Class != c.Expect.Class || v.Retryable != c.Expect.Retryable {
				t.Errorf("%s, retryable %v, by %s; want %s, %v", v.Class, v.Retryable, v.Rule, c.Expect.Class, c.Expect.Retryable)
			}
			if want := value(c.Expect.RetryAfter); v.Hint.After.Seconds() != want {
				t.Errorf("retry after %v, want %v", v.Hint.After.Seconds(), want)
			}
			at := ""
			if !v.Hint.At.IsZero() && !v.Hint.Inferred {
				at = v.Hint.At.UTC().Format(time.RFC3339)
			}
			if at != value(c.Expect.ResetAt) && !slices.Contains(c.Lenient, "reset_at") {
				t.Errorf("reset at %q, want %q", at, value(c.Expect.ResetAt))
			}
			if v.SessionID != "" || v.Usage != nil {
				t.Errorf("session %q, usage %s", v.SessionID, v.Usage)
			}
			if v.Class != verdict.OK && v.Evidence == "" {
				t.Error("no evidence")
			}
		})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
