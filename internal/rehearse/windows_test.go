package rehearse

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
)

// A window fills with each request, refuses when it is full, and begins anew with the first request after its reset.
func TestWindows(t *testing.T) {
	script, err := Parse("200(used=5h:40%,7d:17%, text=x), 500(fill=5h:30%/10s,7d:1%)x*")
	must.OK(t, err)
	a, c := &API{}, &cursor{script: script}
	began := time.Unix(1_800_000_000, 700_000_000)
	for i, tt := range []struct {
		after time.Duration
		want  string
	}{
		{0, "200(used=5h:40%,7d:17%, text=x)"},
		{0, "500(fill=5h:30%/10s,7d:1%) (5h at 70%) (7d at 18%)"},
		{4 * time.Hour, "500(fill=5h:30%/10s,7d:1%) (5h at 100%) (7d at 19%)"},
		{5*time.Hour - time.Second, "429 (5h is full)"},
		{5*time.Hour - 700*time.Millisecond, "500(fill=5h:30%/10s,7d:1%) (5h at 30%) (7d at 20%)"}, // a reset is a whole second
		{5*time.Hour + 9*time.Second, "500(fill=5h:30%/10s,7d:1%) (5h at 60%) (7d at 21%)"},
		{5*time.Hour + 10*time.Second, "500(fill=5h:30%/10s,7d:1%) (5h at 30%) (7d at 22%)"},
	} {
		now := began.Add(tt.after)
		step, label := c.next(now)
		step, label = a.use(step, label, now)
		if label != tt.want {
			t.Errorf("request %d: %s\nwant %s", i, label, tt.want)
		}
		if step.UsageLimit && !now.Add(step.Resets).Equal(began.Add(5*time.Hour).Truncate(time.Second)) {
			t.Errorf("full for %v", step.Resets)
		}
	}
	for _, w := range a.windows {
		if share := a.window(w, began.Add(6*time.Hour)).Share; (share == 0) != (w.Name == "5h") || share > 0.3 {
			t.Errorf("an hour later: %+v", a.windows)
		}
	}
}

// The services tell of windows with each answer once a step has named them, good or bad.
func TestWindows_Headers(t *testing.T) {
	api, err := Start("200(used=5h:42%,7d:17%), 500, 200(used=5h:100%), 200(fill=5h:1%)")
	must.OK(t, err)
	defer api.Close()
	for i, want := range []string{
		"200 status=allowed claim=five_hour 5h=0.42 7d=0.17", "500 primary=42/300 secondary=17/10080",
		"200 status=allowed claim=five_hour 5h=1 7d=0.17", "429 primary=100/300 secondary=17/10080",
	} {
		path, body := "/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`
		if i%2 == 1 {
			path = "/v1/responses"
		}
		res, err := http.Post(api.URL()+path, "application/json", strings.NewReader(body))
		must.OK(t, err)
		res.Body.Close()
		get := func(name string) string { return res.Header.Get(name) }
		const of, codex = "anthropic-ratelimit-unified-", "x-codex-"
		got := fmt.Sprintf("%d status=%s claim=%s 5h=%s 7d=%s", res.StatusCode, get(of+"status"), get(of+"representative-claim"), get(of+"5h-utilization"), get(of+"7d-utilization"))
		reset := get(of + "5h-reset")
		if i%2 == 1 {
			got = fmt.Sprintf("%d primary=%s/%s secondary=%s/%s", res.StatusCode, get(codex+"primary-used-percent"), get(codex+"primary-window-minutes"),
				get(codex+"secondary-used-percent"), get(codex+"secondary-window-minutes"))
			reset = get(codex + "primary-reset-at")
		}
		if got != want || len(reset) != len("1794944280") {
			t.Errorf("answer %d: %s, resets at %s\nwant %s", i, got, reset, want)
		}
	}
}
