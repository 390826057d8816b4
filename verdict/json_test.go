package verdict_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

func TestVerdict_JSON(t *testing.T) {
	tests := []struct {
		name string
		v    verdict.Verdict
		want string
	}{
		{
			"NothingKnown",
			verdict.Verdict{Class: verdict.Unknown},
			`{"class":"unknown","retryable":false,"retry_after_s":null,"reset_at":null,"sent":null,"session_id":null,"usage":null,"rule":null,"evidence":null}`,
		},
		{
			"Everything",
			verdict.Verdict{
				Class:     verdict.RateLimit,
				Retryable: true,
				Hint:      verdict.Hint{After: 1500 * time.Millisecond, At: time.Date(2026, 11, 15, 3, 21, 24, 0, time.FixedZone("CET", 3600))},
				Sent:      verdict.SentNo,
				SessionID: "b6fd88ed",
				Usage:     json.RawMessage(`{"input_tokens":12}`),
				Rule:      "gh/secondary",
				Evidence:  "HTTP 429: You’ve been limited",
			},
			`{"class":"rate_limit","retryable":true,"retry_after_s":1.5,"reset_at":"2026-11-15T02:21:24Z","sent":"no","session_id":"b6fd88ed","usage":{"input_tokens":12},"rule":"gh/secondary","evidence":"HTTP 429: You’ve been limited"}`,
		},
		{
			"WholeSeconds",
			verdict.Verdict{Class: verdict.RateLimit, Retryable: true, Hint: after(time.Hour), Sent: verdict.SentMaybe},
			`{"class":"rate_limit","retryable":true,"retry_after_s":3600,"reset_at":null,"sent":"maybe","session_id":null,"usage":null,"rule":null,"evidence":null}`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			data, err := json.Marshal(test.v)
			must.OK(t, err)
			if string(data) != test.want {
				t.Errorf("got  %s\nwant %s", data, test.want)
			}
			var back verdict.Verdict
			must.OK(t, json.Unmarshal(data, &back))
			again, err := json.Marshal(back)
			if err != nil || string(again) != test.want {
				t.Errorf("after reading it back: %s, %v", again, err)
			}
		})
	}
}

// "resets 2:21am" depends on when it is read, so it is not stated as a fact.
func TestVerdict_JSON_InferredResetIsNull(t *testing.T) {
	h, _ := verdict.ParseHint("resets 2:21am (UTC)", now)
	if got := resetAt(t, h); got != nil {
		t.Errorf("got %v, want null", got)
	}
}

func TestVerdict_JSON_ResetRoundsUp(t *testing.T) {
	if got := resetAt(t, at("2026-11-15T02:21:24.001Z")); got != "2026-11-15T02:21:25Z" {
		t.Errorf("got %v", got)
	}
}

func resetAt(t *testing.T, h verdict.Hint) any {
	t.Helper()
	data, err := json.Marshal(verdict.Verdict{Hint: h})
	must.OK(t, err)
	var m map[string]any
	must.OK(t, json.Unmarshal(data, &m))
	return m["reset_at"]
}

func TestVerdict_JSON_TornUsageIsNull(t *testing.T) {
	data, err := json.Marshal(verdict.Verdict{Class: verdict.Crash, Usage: json.RawMessage(`{"input_tok`)})
	must.OK(t, err)
	var back verdict.Verdict
	if err := json.Unmarshal(data, &back); err != nil || back.Class != verdict.Crash || back.Usage != nil {
		t.Errorf("got %+v, %v", back, err)
	}
}

func TestVerdict_UnmarshalJSON_Malformed(t *testing.T) {
	for _, data := range []string{`{"class":1}`, `{"reset_at":"tomorrow"}`} {
		var v verdict.Verdict
		if err := json.Unmarshal([]byte(data), &v); err == nil {
			t.Errorf("%s: no error", data)
		}
	}
}
