package codex

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/agenttest"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// limited is a line of the record that tells of limits, without the tokens: so does a turn that was refused.
func limited(at time.Time, limits string) string {
	return fmt.Sprintf(`{"timestamp":%q,"type":"event_msg","payload":{"type":"token_count","info":null,"rate_limits":%s}}`+"\n", at.UTC().Format("2006-01-02T15:04:05.000Z"), limits)
}

// What each version puts on record of the limits, as it was seen, and what could come in its place.
func TestWindows(t *testing.T) {
	at := time.Unix(1794940000, 0)
	for name, tt := range map[string]struct{ limits, want string }{
		"0.166": {`{"limit_id":"codex","limit_name":null,"primary":{"used_percent":42.0,"window_minutes":300,"resets_at":1794944322},
			"secondary":{"used_percent":17.0,"window_minutes":10080,"resets_at":1795337122},"credits":null,"plan_type":null}`,
			"five_hour 42% 1794944322, seven_day 17% 1795337122"},
		"older, from now on": {`{"primary":{"used_percent":42.5,"window_minutes":299,"resets_in_seconds":60},"secondary":null}`, "five_hour 42.5% 1794940060"},
		"another limit": {`{"limit_id":"codex_spark","limit_name":"GPT-5.3-Codex-Spark","primary":{"used_percent":90,"window_minutes":300,"resets_at":1794944322}}`,
			"codex_spark.five_hour 90% 1794944322 gpt-5.3-codex-spark"},
		"no length":                 {`{"primary":{"used_percent":1e2,"resets_at":1794944322}}`, "primary 100% 1794944322"},
		"an absurd length":          {`{"primary":{"used_percent":1,"window_minutes":1e300,"resets_at":1794944322}}`, "primary 1% 1794944322"},
		"no reset, no share":        {`{"primary":{"used_percent":42,"window_minutes":300},"secondary":{"window_minutes":10080,"resets_at":1795337122}}`, ""},
		"milliseconds, and below 0": {`{"primary":{"used_percent":42,"resets_at":1794944322000},"secondary":{"used_percent":-1,"resets_at":1795337122,"resets_in_seconds":-5}}`, ""},
		"numbers as text":           {`{"primary":{"used_percent":"42","resets_at":1794944322},"secondary":{"used_percent":42,"resets_at":"2026-11-18","resets_in_seconds":[]}}`, ""},
		"another shape":             {`{"limit_id":7,"primary":[42],"secondary":true}`, ""},
		"none":                      {`null`, ""},
	} {
		told := windows(json.RawMessage(tt.limits), at)
		if got := agenttest.Windows(told); got != tt.want {
			t.Errorf("%s: %s\nwant %s", name, got, tt.want)
		}
		agenttest.Credible(t, told)
	}
}

// What the record tells comes with the next line, and with the account where there is none: once, with the time at which it was told. What stands there of an
// earlier attempt is not told again.
func TestFollow_Quota(t *testing.T) {
	home := t.TempDir()
	p := New(words("codex exec resume "+thread+" hi"), []string{"CODEX_HOME=" + home}, "")
	plan, err := p.Plan(agent.Turn{})
	must.OK(t, err)
	limit := func(percent int) string {
		return fmt.Sprintf(`{"limit_id":"codex","primary":{"used_percent":%d,"window_minutes":300,"resets_at":1794944322}}`, percent)
	}
	path := writeRollout(t, home, "2026/11/15", limited(time.Now(), limit(5)))
	f := p.Follow(plan).Reader.(*follower)
	grow := func(text string) {
		file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		must.OK(t, err)
		defer file.Close()
		_, err = file.WriteString(text)
		must.OK(t, err)
	}
	is := func(what, want string, got agent.LineInfo) {
		t.Helper()
		if text := agenttest.Windows(got.Quota); !strings.HasPrefix(text, want) || (want == "") != (text == "") {
			t.Errorf("%s: %q, want %q", what, text, want)
		}
	}
	now := time.Now()
	is("of an earlier attempt", "", f.Line(agent.Line{Text: []byte(started)}))
	grow(limited(now, limit(10)) + limited(now.Add(time.Millisecond), limit(8)) + limited(now, strings.Replace(limit(99), `"codex"`, `"other"`, 1)))
	is("the newest", "five_hour 8%", f.Line(agent.Line{Text: []byte(hello)}))
	is("once", "", f.Line(agent.Line{Text: []byte(hello)}))
	f.Line(agent.Line{Text: []byte(completed)})
	grow(limited(now.Add(2*time.Millisecond), limit(12)))
	f.Judge(verdict.Outcome{}, time.Now())
	for range 2 {
		told := f.Account().Quota
		is("after the last line", "five_hour 12%", agent.LineInfo{Quota: told})
		if len(told) != 1 || told[0].Told.Sub(now).Abs() > 10*time.Millisecond {
			t.Errorf("told: %+v", told)
		}
	}
}

// FuzzWindows: whatever stands in the record, nothing panics, and nothing absurd is kept.
func FuzzWindows(f *testing.F) {
	f.Add(`{"limit_id":"codex","primary":{"used_percent":42.0,"window_minutes":300,"resets_at":1794944322},"secondary":{"used_percent":-0,"resets_in_seconds":1e300}}`)
	f.Add(`{"limit_id":"\u0000","limit_name":"\ud800","primary":{"used_percent":1e999,"window_minutes":-1,"resets_at":1}}`)
	f.Fuzz(func(t *testing.T, limits string) {
		at := time.Unix(1794940000, 0)
		var s rolloutSum
		s.take([]byte(limited(at, limits)))
		agenttest.Credible(t, s.limits)
		agenttest.Credible(t, windows(json.RawMessage(limits), at))
	})
}
