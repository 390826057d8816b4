package run

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/codex"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/verdict"
)

// The line keeps what people look for: what does not fit of the argument is cut, and only where there is next to no room tokens and cost
// give way.
func TestStatus_InPlace(t *testing.T) {
	t.Setenv("LC_ALL", "C.UTF-8")
	cost := 0.1234
	used := verdict.Usage{InputTokens: 12_345, OutputTokens: 2_960, CostUSD: &cost}
	estimated := used
	estimated.Estimated = true
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			now     engine.Activity
			columns int
			want    string
		}{
			{engine.Activity{Doing: agent.UsingTool, Tool: "Bash", Used: used}, 100, "claude 1:24 · Bash · 12k in, 3k out · $0.12"},
			{engine.Activity{Doing: agent.UsingTool, Tool: "A tool with a very long name that does not fit", Used: used}, 60, "claude 1:24 · A tool with a very l… · 12k in, 3k out · $0.12"},
			{engine.Activity{Doing: agent.UsingTool, Tool: "A tool with a very long name that does not fit", Used: used}, 40, "claude 1:24 · A tool with a ver… · $0.12"},
			{engine.Activity{Doing: agent.UsingTool, Tool: "A tool with a very long name that does not fit", Used: used}, 30, "claude 1:24 · A tool with a v…"},
			{engine.Activity{Doing: agent.UsingTool, Tool: "a\x1b]0;t\a\x1b[2J\u009b5m\u202eb\r\n\tc\xff"}, 100, "claude 1:24 · a\ufffdb c\ufffd"},
			{engine.Activity{Doing: agent.UsingTool, Tool: "漢字漢字漢字漢字漢字漢字漢字漢字", Used: estimated}, 60, "claude 1:24 · 漢字漢字漢字漢字漢… · 12k in, 3k out · ~$0.12"},
			{engine.Activity{Used: verdict.Usage{}}, 100, "claude 1:24 · thinking"},
			{engine.Activity{Doing: agent.Writing}, 100, "claude 1:24 · writing"},
			{engine.Activity{Delivered: true}, 100, "claude 1:24 · finishing"},
			{engine.Activity{Waiting: true}, 100, "claude 1:24 · waiting for input"},
			{engine.Activity{Retrying: true}, 100, "claude 1:24 · retrying"},
			{engine.Activity{Retrying: true, Until: time.Now().Add(84*time.Second + 11500*time.Millisecond)}, 100, "claude 1:24 · retrying in 12s"},
		} {
			s := newStatus("claude")
			s.begun = time.Now().Add(-84 * time.Second)
			tt.now.Until = tt.now.Until.Add(-84 * time.Second)
			s.follow(tt.now)
			got := s.inPlace(tt.columns)
			if w := printable.Width(got); w > tt.columns || got != tt.want {
				t.Errorf("%d columns: %q, which has %d; want %q", tt.columns, got, w, tt.want)
			}
		}
	})
}

func TestStatus_Plain(t *testing.T) {
	cost := 0.1
	synctest.Test(t, func(t *testing.T) {
		s := newStatus("claude")
		time.Sleep(time.Minute)
		if got := s.plain(); got != "claude is still running (1m): working" {
			t.Errorf("%q", got)
		}
		s.follow(engine.Activity{Begun: true})
		if got := s.plain(); got != "" {
			t.Errorf("%q right after a line that told what it does", got)
		}
		s.shown = time.Time{}
		s.follow(engine.Activity{Doing: agent.UsingTool, Tool: "Bash", Used: verdict.Usage{InputTokens: 11_000, OutputTokens: 1_000, CostUSD: &cost}})
		time.Sleep(2 * time.Minute)
		if got := s.plain(); got != "claude is still running (3m): Bash, 12k tokens, $0.10" {
			t.Errorf("%q", got)
		}
		s.restart() // what was used stays
		if got := s.plain(); got != "claude is still running (3m): working, 12k tokens, $0.10" {
			t.Errorf("%q", got)
		}
	})
}

// More than half of a limit is told while the agent works, and gives way where there is no room.
func TestStatus_Limit(t *testing.T) {
	t.Setenv("LC_ALL", "C.UTF-8")
	synctest.Test(t, func(t *testing.T) {
		s, now := newStatus("claude"), time.Now() // it is midnight, in UTC
		filled := func(used, before float64, left time.Duration) *quota.Window {
			return &quota.Window{Name: "five_hour", Used: used, Resets: now.Add(left), Told: now, Trail: []quota.Point{{At: now.Add(-time.Hour), Used: before}}}
		}
		cost := 0.1
		used := verdict.Usage{InputTokens: 11_000, OutputTokens: 1_000, CostUSD: &cost}
		resets, full := message.TimeOfDay(now.Add(90*time.Minute), now), message.TimeOfDay(now.Add(48*time.Minute), now)
		for _, tt := range []struct {
			filled  *quota.Window
			columns int
			want    string
		}{
			{filled(0.84, 0.64, 90*time.Minute), 200, "claude 0:00 · thinking · 11k in, 1k out · $0.10 · five_hour 84% used, resets " + resets + " (forecast: full at about " + full + ")"},
			{filled(0.84, 0.64, 90*time.Minute), 70, "claude 0:00 · thinking · $0.10 · five_hour 84% used, resets " + resets},
			{filled(0.84, 0.64, 90*time.Minute), 50, "claude 0:00 · thinking · $0.10"},
			{filled(0.84, 0.84, 90*time.Minute), 200, "claude 0:00 · thinking · 11k in, 1k out · $0.10 · five_hour 84% used, resets " + resets},
			{filled(0.5, 0.5, 90*time.Minute), 200, "claude 0:00 · thinking · 11k in, 1k out · $0.10"},
			{filled(0.84, 0.64, 0), 200, "claude 0:00 · thinking · 11k in, 1k out · $0.10"},
			{nil, 200, "claude 0:00 · thinking · 11k in, 1k out · $0.10"},
		} {
			s.follow(engine.Activity{Used: used, Filled: tt.filled})
			if got := s.inPlace(tt.columns); got != tt.want {
				t.Errorf("%+v: %q", tt, got)
			}
		}
		s.follow(engine.Activity{Filled: filled(0.84, 0.64, 90*time.Minute)})
		s.restart() // the limit is that of the account
		if got := s.plain(); got != "claude is still running (0s): working, five_hour 84% used, resets "+resets+" (forecast: full at about "+full+")" {
			t.Error(got)
		}
	})
}

// What an agent has begun is one line without controls, of a length that can be read.
func TestView_WatchTellsWhatHasBegun(t *testing.T) {
	var errs strings.Builder
	v := &view{screen: term.New(&errs), stderr: &errs, settings: &config.Settings{}, name: "codex"}
	r := &engine.Runner{Profile: codex.New([]string{"codex", "exec", "hi"}, nil, "")}
	v.watch(r, &belaytype.Command{Stderr: &errs})
	r.Follow(engine.Activity{Doing: agent.UsingTool, Tool: "exec"})
	r.Follow(engine.Activity{Doing: agent.UsingTool, Tool: "exec", Begun: true})
	r.Follow(engine.Activity{Doing: agent.UsingTool, Tool: "a\x1b[2J\nb" + strings.Repeat("x", 300), Begun: true})
	lines := strings.Split(errs.String(), "\n")
	if len(lines) != 3 || lines[0] != "codex: exec" || !strings.HasPrefix(lines[1], "codex: a bxxx") || printable.Width(lines[1]) != maxStep {
		t.Errorf("%q", errs.String())
	}
}

// A command may tell what it does before it is said that it has started; only the end of an attempt takes that back.
func TestView_StatusOutlivesALateStart(t *testing.T) {
	v := &view{screen: term.New(nil), settings: &config.Settings{}, status: newStatus("claude")}
	v.status.follow(engine.Activity{Doing: agent.Writing})
	v.observe(belaytype.AttemptStarted{Attempt: 1, Command: "claude", Held: true})
	if got := v.status.doing(true); got != "writing" {
		t.Errorf("after its start: %q", got)
	}
	v.observe(belaytype.AttemptFailed{Attempt: 1})
	if got := v.status.doing(true); got != "working" {
		t.Errorf("after its end: %q", got)
	}
}

// A wait is called requested only where the service has asked for it.
func TestView_AsRequested(t *testing.T) {
	in := func(d time.Duration) time.Time { return time.Now().Add(d) }
	synctest.Test(t, func(t *testing.T) {
		for name, tt := range map[string]struct {
			class verdict.Class
			hint  verdict.Hint
			wait  time.Duration
			want  bool
		}{
			"a time to wait":                     {verdict.RateLimit, verdict.Hint{After: 10 * time.Second}, 10 * time.Second, true},
			"a time of day":                      {verdict.Overloaded, verdict.Hint{At: in(10 * time.Second)}, 11 * time.Second, true},
			"none":                               {verdict.RateLimit, verdict.Hint{}, 10 * time.Second, false},
			"less than the back-off":             {verdict.RateLimit, verdict.Hint{After: time.Second}, 10 * time.Second, false},
			"when a plan's limit ends":           {verdict.UsageLimit, verdict.Hint{At: in(10 * time.Second)}, 10 * time.Second, false},
			"what is only inferred":              {verdict.RateLimit, verdict.Hint{At: in(time.Minute), Inferred: true}, time.Minute, false},
			"what is inferred of a plan's limit": {verdict.UsageLimit, verdict.Hint{At: in(time.Minute), Inferred: true}, time.Minute, false},
		} {
			var said strings.Builder
			v := &view{screen: term.New(&said), settings: &config.Settings{}, name: "claude"}
			v.wait(belaytype.Waiting{Attempt: 1, Retry: 1, Verdict: verdict.Verdict{Class: tt.class, Hint: tt.hint}, Wait: tt.wait, Until: in(tt.wait)})
			v.end()
			if got := said.String(); strings.Contains(got, "as requested") != tt.want || !strings.Contains(got, "retrying in ") {
				t.Errorf("%s: %q", name, got)
			}
		}
	})
}

func TestCountText(t *testing.T) {
	for n, want := range map[int64]string{-5: "0", 0: "0", 950: "950", 999: "999", 1000: "1k", 1234: "1.2k", 9949: "9.9k", 9950: "10k", 12_345: "12k",
		999_499: "999k", 999_500: "1M", 3_440_000: "3.4M", 12_000_000_000: "12G"} {
		if got := countText(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestCostText(t *testing.T) {
	for cost, want := range map[float64]string{0: "$0.00", 0.001: "<$0.01", 0.125: "$0.12", 12.5: "$12.50", -1: "", 1e12: ""} {
		if got := costText(verdict.Usage{CostUSD: &cost}); got != want {
			t.Errorf("%v is %q, want %q", cost, got, want)
		}
	}
}
