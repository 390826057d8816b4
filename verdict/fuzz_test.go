package verdict_test

import (
	"testing"
	"time"

	"github.com/belay-run/belay/verdict"
)

func FuzzParseHint(f *testing.F) {
	for _, seed := range []string{
		"Retry-After: Wed, 21 Oct 2026 07:28:00 GMT",
		"X-Ratelimit-Remaining: 0\nX-Ratelimit-Reset: 1794709284\n",
		`{"retryDelay": "34.07s", "resets_at": 1794709284000}`,
		"try again in 3 days 4 hours",
		"resets Nov 17, 3am (Europe/Berlin)",
		"resets Monday 9am EST",
		"usage limit reached|1794709284",
	} {
		f.Add(seed, now.Unix())
	}
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		now := time.Unix(unix%(1<<33), 0).UTC()
		h, ok := verdict.ParseHint(text, now)
		checkHint(t, h, ok, now)
		h, ok = verdict.ParseRetryAfter(text, now)
		checkHint(t, h, ok, now)
	})
}

func checkHint(t *testing.T, h verdict.Hint, ok bool, now time.Time) {
	t.Helper()
	const year = 366 * 24 * time.Hour
	wait := h.Wait(now)
	switch {
	case ok == h.IsZero():
		t.Errorf("ok is %v for %+v", ok, h)
	case h.After < 0 || wait < 0:
		t.Errorf("negative: %+v", h)
	case wait > year:
		t.Errorf("beyond a year: %+v", h)
	case h.Inferred && h.At.IsZero():
		t.Errorf("inferred nothing: %+v", h)
	}
}

func FuzzRules(f *testing.F) {
	f.Add("rate limit|too many requests", "stderr", 1, "Error: Too Many Requests\ntry again in 5s")
	f.Add(`you've\s+hit`, "", 1, "You’ve\nhit your limit")
	f.Add(`^\W*\bquota\b.*$`, "stdout", 0, "\x1b[31mquota\x1b[0m")
	f.Fuzz(func(t *testing.T, match, stream string, exit int, text string) {
		rules, err := verdict.Compile(verdict.Rule{
			Class: verdict.RateLimit, Match: match, Stream: stream, Exit: []int{exit},
		})
		if err != nil {
			return
		}
		for _, o := range []verdict.Outcome{exited(exit, text, "other"), exited(exit, "other", text)} {
			v, ok := rules.Judge(o, now)
			if !ok {
				continue
			}
			checkHint(t, v.Hint, !v.Hint.IsZero(), now)
			if bad := showable(v.Evidence, 400); bad != "" {
				t.Errorf("evidence %s: %q", bad, v.Evidence)
			}
			if _, err := v.MarshalJSON(); err != nil {
				t.Error(err)
			}
		}
	})
}

func FuzzCapture(f *testing.F) {
	f.Add([]byte("the quick brown fox"), uint8(3), uint8(5), uint8(4))
	f.Add([]byte("x"), uint8(0), uint8(0), uint8(1))
	f.Fuzz(func(t *testing.T, stream []byte, head, tail, chunk uint8) {
		c := verdict.NewCapture(int(head), int(tail))
		step := int(chunk) + 1
		for p := stream; len(p) > 0; p = p[min(step, len(p)):] {
			if n, err := c.Write(p[:min(step, len(p))]); n != min(step, len(p)) || err != nil {
				t.Fatalf("Write: %d, %v", n, err)
			}
		}
		checkExcerpt(t, "capture", c.Excerpt(), stream, int(head), int(tail))
	})
}

func FuzzLastLines(f *testing.F) {
	f.Add("one\n\x1b[31mtwo\x1b[0m\r\nthree\xff", 2, 10)
	f.Fuzz(func(t *testing.T, text string, lines, limit int) {
		limit %= 1000
		if bad := showable(verdict.LastLines(text, lines, limit), max(limit, 0)); bad != "" {
			t.Errorf("%s: %q", bad, verdict.LastLines(text, lines, limit))
		}
	})
}
