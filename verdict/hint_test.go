package verdict_test

import (
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/verdict"
)

// now is a Sunday.
var now = time.Date(2026, time.November, 15, 0, 20, 0, 0, time.UTC)

func after(d time.Duration) verdict.Hint { return verdict.Hint{After: d} }

func at(s string) verdict.Hint {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return verdict.Hint{At: t}
}

func inferred(s string) verdict.Hint {
	h := at(s)
	h.Inferred = true
	return h
}

type hintTest struct {
	text string
	want verdict.Hint
}

func testHints(t *testing.T, now time.Time, tests []hintTest) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			got, ok := verdict.ParseHint(test.text, now)
			if !ok {
				t.Fatalf("no hint, want %v", test.want)
			}
			if got.After != test.want.After || !got.At.Equal(test.want.At) || got.Inferred != test.want.Inferred {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestParseHint_Fields(t *testing.T) {
	const day = 24 * time.Hour
	testHints(t, now, []hintTest{
		{"Retry-After: 17", after(17 * time.Second)},
		{"RETRY-AFTER: 17\r\n", after(17 * time.Second)},
		{"retry-after: 1.5", after(1500 * time.Millisecond)},
		{"< Retry-After: 60", after(time.Minute)},
		{"Retry-After: Wed, 18 Nov 2026 07:28:00 GMT", at("2026-11-18T07:28:00Z")},
		{"Retry-After: Wednesday, 18-Nov-26 07:28:00 GMT", at("2026-11-18T07:28:00Z")},
		{"Retry-After: Wed Nov 18 07:28:00 2026", at("2026-11-18T07:28:00Z")},
		{`"retry-after":"Wed, 18 Nov 2026 07:28:00 GMT","server":"x"`, at("2026-11-18T07:28:00Z")},
		{"retry-after: 1794709284", at("2026-11-15T02:21:24Z")},
		{"retry-after: 2026-11-15T02:21:24Z", at("2026-11-15T02:21:24Z")},
		{"retry-after-ms: 1500", after(1500 * time.Millisecond)},
		{"x-ms-retry-after-ms: 250", after(250 * time.Millisecond)},

		{`{"retry_after": 17}`, after(17 * time.Second)},
		{`{"retryAfter":"17s"}`, after(17 * time.Second)},
		{`{"retry_after_ms":1500}`, after(1500 * time.Millisecond)},
		{`{"retry_after_seconds": 30}`, after(30 * time.Second)},
		{`"body": "{\"retry_after\": 2.5}"`, after(2500 * time.Millisecond)},
		{`"body": "HTTP/1.1 429\r\nretry-after: 60\r\n"`, after(time.Minute)},
		{`'retry-after' => '17'`, after(17 * time.Second)},
		{`Headers([('retry-after', '17')])`, after(17 * time.Second)},
		{`(b'Retry-After', b'17')`, after(17 * time.Second)},
		{"map[Retry-After:[17] Server:[x]]", after(17 * time.Second)},
		{"retry_after: Some(17s)", after(17 * time.Second)},
		{"retry_after=17 status=429", after(17 * time.Second)},

		{`retryDelay: "34.07s"`, after(34070 * time.Millisecond)},
		{`"retryDelay\": \"34s\"`, after(34 * time.Second)},
		{"retryDelayMs: 34074.5,", after(34074500 * time.Microsecond)},
		{`"quotaResetDelay": "12h34m16.5s"`, after(12*time.Hour + 34*time.Minute + 16500*time.Millisecond)},
		{`"quotaResetTimeStamp": "2026-11-15T12:54:16Z"`, at("2026-11-15T12:54:16Z")},

		{`resetsAt: 1794709284`, at("2026-11-15T02:21:24Z")},
		{`"resets_at":1794709284`, at("2026-11-15T02:21:24Z")},
		{`"resets_at":1794709284000,`, at("2026-11-15T02:21:24Z")},
		{`"resetAt": "2026-11-15T02:21:24Z"`, at("2026-11-15T02:21:24Z")},
		{`"resetAt": "2026-11-15T03:21:24.500+01:00"`, at("2026-11-15T02:21:24.5Z")},
		{`"resetAt": "2026-11-15T02:21"`, inferred("2026-11-15T02:21:00Z")},
		{`resets_at: Some(1794709284)`, at("2026-11-15T02:21:24Z")},
		{`"resets_in_seconds": 7200`, after(2 * time.Hour)},

		{"x-ratelimit-reset: 1794709284", at("2026-11-15T02:21:24Z")},
		{"X-Ratelimit-Reset: 1794709284000", at("2026-11-15T02:21:24Z")},
		{"x-ratelimit-reset: 2026-11-15T02:21:24Z", at("2026-11-15T02:21:24Z")},
		{"x-ratelimit-reset: 2026-11-15 02:21:24 UTC", at("2026-11-15T02:21:24Z")},
		{"ratelimit-reset: 42", after(42 * time.Second)},
		{"anthropic-ratelimit-requests-reset: 2026-11-15T02:21:24Z", at("2026-11-15T02:21:24Z")},
		{"anthropic-ratelimit-unified-reset: 1794709284", at("2026-11-15T02:21:24Z")},
		{"x-ratelimit-reset-requests: 6m0s", after(6 * time.Minute)},
		{"x-ratelimit-reset-tokens: 12ms", after(12 * time.Millisecond)},
		{"x-ratelimit-reset-requests: 8d2h", after(8*day + 2*time.Hour)},
	})
}

func TestParseHint_Phrases(t *testing.T) {
	const day = 24 * time.Hour
	testHints(t, now, []hintTest{
		{"Please try again in 17s.", after(17 * time.Second)},
		{"TRY AGAIN IN 17 S", after(17 * time.Second)},
		{"try again in 3.3 s", after(3300 * time.Millisecond)},
		{"Please try again in 11.054s. Visit https://x.", after(11054 * time.Millisecond)},
		{"try again in 17 seconds", after(17 * time.Second)},
		{"try again in 250ms", after(250 * time.Millisecond)},
		{"try again in 3 days 4 hours", after(3*day + 4*time.Hour)},
		{"try again in 5 days 22 hours 11\nminutes.", after(5*day + 22*time.Hour + 11*time.Minute)},
		{"please try\nagain in 2 minutes", after(2 * time.Minute)},
		{"try again in 1h30m", after(90 * time.Minute)},
		{"try again in 2 hours and 5 minutes", after(125 * time.Minute)},
		{"try again in 2 hours, 5 minutes and 3 seconds", after(125*time.Minute + 3*time.Second)},
		{"try again in 2 minutes", after(2 * time.Minute)},
		{"try again in about 2 minutes", after(2 * time.Minute)},
		{"try again in ~2 min", after(2 * time.Minute)},
		{"Try again in less than a minute.", after(time.Minute)},
		{"Try again in an hour.", after(time.Hour)},
		{"Try again in a day", after(day)},
		{"try again in 1 week", after(7 * day)},
		{"\x1b[31mtry again in \x1b[1m17s\x1b[0m", after(17 * time.Second)},
		{`{"message":"slow down\ntry again in 17s\nthanks"}`, after(17 * time.Second)},
		{"Please retry in 34.074824224s.", after(34074824224)},
		{"Please retry after 20 seconds.", after(20 * time.Second)},
		{"Suggested retry after 3s.. Retrying after 5926ms...", after(3 * time.Second)},
		{"The service will be available in 90 seconds", after(90 * time.Second)},
		{"available again in 5 minutes", after(5 * time.Minute)},
		{"You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.", at("2026-12-01T00:00:00Z")},
		{"you will regain access in 3 days", after(3 * day)},
		{"Please wait 30 seconds before sending another request", after(30 * time.Second)},
		{"Rate limited\nWait 30 seconds.", after(30 * time.Second)},
		{"You need to wait for 2 minutes", after(2 * time.Minute)},
		{"you must wait at least 10 s", after(10 * time.Second)},
		{"please wait another 10 seconds", after(10 * time.Second)},
		{"limit resets in 4h 12m", after(4*time.Hour + 12*time.Minute)},
		{"HTTP 429 resets at 2026-11-15T02:21:24Z", at("2026-11-15T02:21:24Z")},
		{"gh: HTTP 429 resets at 1794709284", at("2026-11-15T02:21:24Z")},
		{"error 429 resets in 30s", after(30 * time.Second)},
		{"status: 429 resets in 30s", after(30 * time.Second)},
		{"error code=503 resets in 30s", after(30 * time.Second)},
		{"Your quota will reset after 12h34m16s.", after(12*time.Hour + 34*time.Minute + 16*time.Second)},
		{"reset after 34s", after(34 * time.Second)},
		{"API rate limit of 60 still exceeded [rate reset in 12m34s]", after(12*time.Minute + 34*time.Second)},
		{"you've hit your session limit, resets in 2h at 5:20pm", after(2 * time.Hour)},

		{"Claude AI usage limit reached|1794709284", at("2026-11-15T02:21:24Z")},
		{"usage limit reached|1794709284000", at("2026-11-15T02:21:24Z")},
		{"Claude AI usage limit reached|1753088400", at("2025-07-21T09:00:00Z")},
		{"Rate limit will reset at 1794709284.", at("2026-11-15T02:21:24Z")},
		{"Rate limit reset at: 2026-11-15T02:21:24Z", at("2026-11-15T02:21:24Z")},
		{"try again after Sun, 15 Nov 2026 02:21:24 GMT.", at("2026-11-15T02:21:24Z")},
		{"try again at 2026-11-15 02:21:24.", inferred("2026-11-15T02:21:24Z")},
	})
}

func TestParseHint_SeveralHints(t *testing.T) {
	testHints(t, now, []hintTest{
		// A header goes before prose, wherever it stands (opencode).
		{`"message":"Please try again in 1.5s.","responseHeaders":{"retry-after":"2"},"body":"try again in 1.5s"`, after(2 * time.Second)},
		// Otherwise the last belongs to the failure that ended the attempt.
		{"attempt 1: try again in 5s\nattempt 2: try again in 9s\n", after(9 * time.Second)},
		{"HTTP/1.1 429\nRetry-After: 5\n\n{}\nHTTP/1.1 429\nRetry-After: 9\n\n{}", after(9 * time.Second)},
		// A response may give both: GitHub's primary limit.
		{"HTTP/1.1 403\nRetry-After: 60\nX-Ratelimit-Remaining: 0\nX-Ratelimit-Reset: 1794709284\n",
			verdict.Hint{After: time.Minute, At: at("2026-11-15T02:21:24Z").At}},
		// But not two responses.
		{"HTTP/1.1 403\nRetry-After: 60\nHTTP/1.1 403\nX-Ratelimit-Reset: 1794709284\n", at("2026-11-15T02:21:24Z")},
		{"< Retry-After: 60\n< \n< X-Ratelimit-Reset: 1794709284\n", at("2026-11-15T02:21:24Z")},
		{`{"retry_after":60}` + "\n" + `{"resets_at":1794709284}`, at("2026-11-15T02:21:24Z")},
		// A secondary limit: the reset is that of the primary one.
		{"Retry-After: 60\nX-Ratelimit-Remaining: 4999\nX-Ratelimit-Reset: 1794709284", after(time.Minute)},
		// The limit that remains is another one.
		{"X-Ratelimit-Remaining-Search: 9\nX-Ratelimit-Reset: 1794709284", at("2026-11-15T02:21:24Z")},
		// Asked for directly goes before worked out from limits.
		{"retry-after: 2\nx-ratelimit-reset-requests: 6m0s", after(2 * time.Second)},
		// Of several limits that are used up, all must have passed.
		{"x-ratelimit-remaining-requests: 0\nx-ratelimit-reset-requests: 6m0s\nx-ratelimit-remaining-tokens: 0\nx-ratelimit-reset-tokens: 12ms", after(6 * time.Minute)},
		{"x-ratelimit-remaining-requests: 9\nx-ratelimit-reset-requests: 6m0s\nx-ratelimit-remaining-tokens: 0\nx-ratelimit-reset-tokens: 12ms", after(12 * time.Millisecond)},
		{"anthropic-ratelimit-unified-7d-reset: 1795309284\nanthropic-ratelimit-unified-reset: 1794709284\nanthropic-ratelimit-unified-status: rejected", at("2026-11-15T02:21:24Z")},
		// Fields that do not count leave the field to the prose beside them.
		{`{"message":"try again in 5s","x-ratelimit-remaining":"7","x-ratelimit-reset":"1794709284"}`, after(5 * time.Second)},
		{"Retry-After: 9\n\nX-Ratelimit-Remaining: 7\nX-Ratelimit-Reset: 1794709284", after(9 * time.Second)},
		// One line may tell of several limits.
		{`{"a":{"remaining":5,"resetAt":"2026-11-20T00:00:00Z"},"b":{"remaining":0,"resetAt":"2026-11-15T02:21:24Z"}}`, at("2026-11-15T02:21:24Z")},
		// Zero says nothing, so what was said before stands.
		{"retry-after: 3\n\nretry-after: 0", after(3 * time.Second)},
	})
}

// Text that is full of places to look at is not read twice, but its end counts.
func TestParseHint_AfterManyStems(t *testing.T) {
	text := strings.Repeat("retry again, reset ", 10_000) + "try again in 17s"
	if got, ok := verdict.ParseHint(text, now); !ok || got.After != 17*time.Second {
		t.Errorf("got %+v, %v", got, ok)
	}
}

func TestParseRetryAfter(t *testing.T) {
	tests := []struct {
		value string
		want  verdict.Hint
		ok    bool
	}{
		{"17", after(17 * time.Second), true},
		{" 17 ", after(17 * time.Second), true},
		{"1.5", after(1500 * time.Millisecond), true},
		{"1794709284", at("2026-11-15T02:21:24Z"), true},
		{"Wed, 18 Nov 2026 07:28:00 GMT", at("2026-11-18T07:28:00Z"), true},
		{"wed, 18 nov 2026 07:28:00 gmt", at("2026-11-18T07:28:00Z"), true},
		{"Wednesday, 18-Nov-26 07:28:00 GMT", at("2026-11-18T07:28:00Z"), true},
		{"Wed Nov 18 07:28:00 2026", at("2026-11-18T07:28:00Z"), true},
		{"Sun Nov  1 07:28:00 2026", at("2026-11-01T07:28:00Z"), true},
		{"Wed, 21 Oct 2015 07:28:00 GMT", at("2015-10-21T07:28:00Z"), true},
		{"", verdict.Hint{}, false},
		{"0", verdict.Hint{}, false},
		{"-1", verdict.Hint{}, false},
		{"17s", verdict.Hint{}, false},
		{"1e9", verdict.Hint{}, false},
		{"NaN", verdict.Hint{}, false},
		{"Inf", verdict.Hint{}, false},
		{"99999999", verdict.Hint{}, false},
		{"1111111111111111111111", verdict.Hint{}, false},
		{"1.11111111111111111111111111111111111111111", verdict.Hint{}, false},
		{"soon", verdict.Hint{}, false},
		{"Wed, 18 Nov 2026 07:28:00 GMT+1", verdict.Hint{}, false},
		{"Wed, 18 Nov 2030 07:28:00 GMT", verdict.Hint{}, false},
	}
	for _, test := range tests {
		t.Run(test.value, func(t *testing.T) {
			got, ok := verdict.ParseRetryAfter(test.value, now)
			if ok != test.ok || ok && (got.After != test.want.After || !got.At.Equal(test.want.At)) {
				t.Errorf("got %+v, %v, want %+v, %v", got, ok, test.want, test.ok)
			}
		})
	}
}

func TestHint_Wait(t *testing.T) {
	tests := []struct {
		name string
		hint verdict.Hint
		want time.Duration
		zero bool
	}{
		{"None", verdict.Hint{}, 0, true},
		{"Negative", after(-time.Second), 0, true},
		{"After", after(time.Minute), time.Minute, false},
		{"At", verdict.Hint{At: now.Add(time.Hour)}, time.Hour, false},
		{"Past", verdict.Hint{At: now.Add(-time.Hour)}, 0, false},
		{"LaterOfBoth", verdict.Hint{After: time.Minute, At: now.Add(time.Hour)}, time.Hour, false},
		{"AfterPast", verdict.Hint{After: time.Minute, At: now.Add(-time.Hour)}, time.Minute, false},
		{"Saturates", verdict.Hint{At: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}, 1<<63 - 1, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.hint.Wait(now); got != test.want {
				t.Errorf("Wait: got %v, want %v", got, test.want)
			}
			if got := test.hint.IsZero(); got != test.zero {
				t.Errorf("IsZero: got %v, want %v", got, test.zero)
			}
		})
	}
}
