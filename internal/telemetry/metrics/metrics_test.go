package metrics_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/telemetry/metrics"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

var update = flag.Bool("update", false, "renew testdata")

// snapshot has something of everything, and a model whose name is hostile.
func snapshot() metrics.Snapshot {
	opus := record.Meter{Profile: "claude", Model: "opus", Class: "ok", Figures: record.Figures{Attempts: 3, Invocations: 2, WaitMS: 2500, Waits: record.Waits{InnerRetries: 1, InnerWaitMS: 1000, GateWaitMS: 500, TookMS: 9500}, Requests: 4, Usage: verdict.Usage{InputTokens: 300, OutputTokens: 30, CacheReadInputTokens: 1000, CacheCreationInputTokens: 10, CostUSD: new(0.125)}}}
	opus.InputSizes[6], opus.OutputSizes[2], opus.Durations[9], opus.Durations[14] = 3, 3, 1, 1
	failed := record.Meter{Profile: "claude", Model: "opus", Class: "rate_limit", Figures: record.Figures{Attempts: 1, Invocations: 1, Waits: record.Waits{TookMS: 20}}}
	failed.Durations[1] = 1
	hostile := record.Meter{Profile: "codex", Model: "a\"b\\c\nbelay_runs_total{profile=\"x\"} 1\xff", Class: "ok", Figures: record.Figures{Attempts: 1, Invocations: 1, Usage: verdict.Usage{InputTokens: 1, CostUSD: new(1e-7)}}}
	hostile.InputSizes[0], hostile.OutputSizes[0], hostile.Durations[0] = 1, 1, 1
	day := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	limits := overview.LimitsOf([]gate.Entry{{Key: "claude:api\x1b[2J\n", State: gate.State{Quota: quota.Quota{
		{Name: "five_hour", Used: 0.84, Resets: day.Add(time.Hour), Told: day, Trail: []quota.Point{{At: day.Add(-time.Hour), Used: 0.8}}}, {Name: "seven_day", Used: 0.5, Resets: day.Add(48 * time.Hour), Told: day}}}}}, day)
	return metrics.Snapshot{Version: "1.2.3", Since: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC),
		Meters:  []record.Meter{opus, failed, hostile, {Profile: "generic", Class: "rate_limit", Figures: record.Figures{Refused: 1, Invocations: 1}}, {Profile: "hook:fmt", Class: "crash", Figures: record.Figures{Faults: 2}}},
		Running: []metrics.Running{{Profile: "codex", State: "waiting", Runs: 1}, {Profile: "claude", State: "running", Runs: 2}},
		Gates:   []metrics.Gate{{Key: "host/api", Held: true, Waiting: 3}, {Key: "account:1", Open: true}}, Limits: limits}
}

func TestText_Golden(t *testing.T) {
	snap := snapshot()
	got := snap.Text()
	const golden = "testdata/metrics.prom"
	if *update {
		must.OK(t, os.WriteFile(golden, got, 0o644))
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(got) != string(want) {
		t.Errorf("renew it with -update, if this is right: %v\n%s", err, got)
	}
	if strings.Contains(string(got), "\nbelay_runs_total{profile=\"x\"}") {
		t.Error("the name of a model has become a sample")
	}
}

// Prometheus' own tool accepts what is written, and has no advice.
func TestText_Promtool(t *testing.T) {
	tool := promtool(t)
	full, empty := snapshot(), metrics.Snapshot{Version: "1.2.3"}
	for name, text := range map[string][]byte{"full": full.Text(), "empty": empty.Text()} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(tool, "check", "metrics")
			cmd.Stdin = strings.NewReader(string(text))
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v\n%s\n%s", err, out, text)
			}
		})
	}
}

// promtool is where scripts/setup-promtool has put it, or on the PATH.
func promtool(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../../.tools/promtool")
	must.OK(t, err)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	path, err = exec.LookPath("promtool")
	switch {
	case err == nil:
		return path
	case os.Getenv("CI") == "true":
		t.Fatal("there is no promtool; scripts/setup-promtool gets it")
	}
	t.Skip("there is no promtool; scripts/setup-promtool gets it")
	return ""
}

func TestCollect(t *testing.T) {
	s := &state.State{Dir: t.TempDir()}
	must.OK(t, s.Prepare())
	d, err := record.Open(s.Dir)
	must.OK(t, err)
	defer d.Close()
	for _, rec := range []supervise.Record{{ID: "1", Profile: "claude"}, {ID: "2", Profile: "claude"}, {ID: "3", Profile: "hook:fmt"}} {
		made, err := s.CreateRecord(rec)
		must.OK(t, err)
		defer made.Remove()
	}
	now := time.Now()
	must.OK(t, s.Gates().Update("api", now, func(s gate.State) gate.State { return s.Held(now, now.Add(time.Hour), "test") }))
	must.OK(t, s.Gates().Update("claude", now, func(s gate.State) gate.State {
		s.Quota = s.Quota.Tell(now, now, "run", []quota.Window{{Name: "five_hour", Used: 0.5, Resets: now.Add(time.Hour)}})
		return s
	}))
	snap, err := metrics.Collect(context.Background(), d, s)
	must.OK(t, err)
	if len(snap.Running) != 1 || snap.Running[0] != (metrics.Running{Profile: "claude", State: "running", Runs: 2}) {
		t.Errorf("running %+v", snap.Running)
	}
	if len(snap.Gates) != 1 || snap.Gates[0] != (metrics.Gate{Key: "api", Held: true}) {
		t.Errorf("gates %+v", snap.Gates)
	}
	if len(snap.Limits) != 1 || snap.Limits[0].Account != "claude" || snap.Limits[0].Used != 0.5 {
		t.Errorf("limits %+v", snap.Limits)
	}
}

// Only who has the token is told anything.
func TestHandler(t *testing.T) {
	token, trouble := "secret", error(nil)
	var asked int
	h := metrics.Handler(func(context.Context) (metrics.Snapshot, error) { asked++; return snapshot(), trouble },
		func() (string, error) {
			if token == "unreadable" {
				return token, errors.New("unreadable")
			}
			return token, nil
		})
	for _, tt := range []struct {
		method, token, given string
		trouble              error
		want                 int
	}{
		{"GET", "secret", "Bearer secret", nil, 200},
		{"HEAD", "secret", "Bearer secret", nil, 200},
		{"POST", "secret", "Bearer secret", nil, 405},
		{"GET", "secret", "Bearer secreT", nil, 401},
		{"GET", "secret", "Bearer ", nil, 401},
		{"GET", "secret", "", nil, 401},
		{"GET", "secret", "Basic secret", nil, 401},
		{"GET", "", "Bearer ", nil, 401},
		{"GET", "", "", nil, 401},
		{"GET", "unreadable", "Bearer unreadable", nil, 401},
		{"GET", "secret", "Bearer secret", errors.New("busy"), 503},
	} {
		token, trouble, asked = tt.token, tt.trouble, 0
		r := httptest.NewRequest(tt.method, "/metrics", nil)
		if tt.given != "" {
			r.Header.Set("Authorization", tt.given)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		res := w.Result()
		body, _ := io.ReadAll(res.Body)
		if res.StatusCode != tt.want {
			t.Errorf("%+v: %s", tt, res.Status)
		}
		if told := strings.Contains(string(body), "belay_runs_total"); told != (tt.want == 200) {
			t.Errorf("%+v: told %v", tt, told)
		}
		if tt.want == 200 && res.Header.Get("Content-Type") != metrics.ContentType {
			t.Errorf("%+v: %s", tt, res.Header)
		}
		if tt.want == http.StatusUnauthorized && (asked > 0 || res.Header.Get("WWW-Authenticate") == "") {
			t.Errorf("%+v: asked %d times, %s", tt, asked, res.Header)
		}
	}
}
