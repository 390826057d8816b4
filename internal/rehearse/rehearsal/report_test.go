package rehearsal

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/test/must"
)

func TestReport_Text(t *testing.T) {
	begun := time.Now()
	r := &Report{script: "500,\n200", begun: begun, ExitCode: 75, unused: []string{"200"},
		requests: []rehearse.Request{
			{At: begun, Method: "HEAD", Path: "/", Status: 200, End: rehearse.Whole},
			{At: begun.Add(time.Second), Main: true, Method: "POST", Path: "/v1/messages", Model: "m", Step: "500", Status: 500, End: rehearse.Whole},
			{At: begun.Add(3 * time.Second), Gap: 2 * time.Second, Main: true, Method: "POST", Path: "/v1/messages", Model: "m", Step: "hang", Took: time.Second,
				End: rehearse.ClientLeft, Usage: rehearse.Usage{Input: 7, CacheRead: 2}},
		},
		result: json.RawMessage(`{"success":false,"error_type":"server_error","attempts":2,"total_wait_time":1.25,"profile":"claude","retry_at":"2026-01-02T03:04:05Z",
			"usage":{"input_tokens":7,"output_tokens":0,"total_cost_usd":0.5}}`)}
	var b bytes.Buffer
	must.OK(t, r.WriteText(&b))
	const want = `belay: rehearsed 500, 200: 2 requests
  #  AT     GAP    REQUEST            MODEL  STEP  ANSWER                         TOKENS
  1  1.00s         POST /v1/messages  m      500   500
  2  3.00s  2.00s  POST /v1/messages  m      hang  none, client left after 1.00s  7 in / 0 out, cache 2 read / 0 written
  other requests, which take no step: HEAD / (200)
  not reached: 200
belay: verdict server_error; 2 attempts, waited 1.2s; claude reports 7 tokens in, 0 out, $0.5000; retry at 2026-01-02T03:04:05Z; exit code 75
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// A command that leaves no result is still reported on.
func TestReport_NoResult(t *testing.T) {
	r := &Report{script: "200", ExitCode: 137}
	var b bytes.Buffer
	if err := r.WriteText(&b); err != nil || !strings.HasSuffix(b.String(), "left no result; exit code 137\n") {
		t.Errorf("%v: %s", err, b.String())
	}
	b.Reset()
	if err := r.WriteJSON(&b); err != nil || !strings.Contains(b.String(), `"requests":[],"unused_steps":[]`) || !strings.Contains(b.String(), `"result":null`) {
		t.Errorf("%v: %s", err, b.String())
	}
}

// What the rehearsal sets wins, once; what it empties is not there at all.
func TestEnvironment(t *testing.T) {
	got := rehearse.Over([]string{"A=1", "KEY=real", "TOKEN=real", "B=2"}, []string{"KEY=none", "TOKEN=", "C=3"})
	if want := []string{"A=1", "B=2", "KEY=none", "C=3"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
