package overview_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

// window is one of five hours that was told now, and an hour ago had that share.
func window(now time.Time, name string, used, before float64, left time.Duration) quota.Window {
	return quota.Window{Name: name, Used: used, Resets: now.Add(left), Told: now, By: "run-1", Trail: []quota.Point{{At: now.Add(-time.Hour), Used: before}}}
}

func TestLimits(t *testing.T) {
	s := &state.State{Dir: t.TempDir()}
	if _, list, err := overview.Gates(s); err != nil || list == nil || len(list) > 0 {
		t.Errorf("of nothing: %v, %v", list, err)
	}
	now := time.Now()
	put := func(key string, windows ...quota.Window) {
		must.OK(t, s.Gates().Update(key, now, func(s gate.State) gate.State { s.Quota = windows; return s }))
	}
	over, calm, plain := window(now, "over", 0.5, 0.5, -time.Minute), window(now, "calm", 0.5, 0.4, 2*time.Hour), window(now, "plain", 0.25, 0, time.Hour)
	plain.Trail, plain.Model, plain.By = nil, "opus", ""
	put("a", over, calm, window(now, "fills", 0.6, 0.2, 3*time.Hour), window(now, "full", 1.2, 1, time.Hour))
	put("b", plain)
	must.OK(t, s.Gates().Update("held", now, func(s gate.State) gate.State { return s.Held(now, now.Add(time.Hour), "test") }))
	_, list, err := overview.Gates(s)
	must.OK(t, err)
	got := ""
	for _, l := range list {
		got += fmt.Sprintf("%s %s %s %s %v\n", l.Account, l.Window, l.Percent(), l.Leads(now), l.Warning)
	}
	want := "a calm 50% 70% at the reset false\na fills 60% full at about " + message.TimeOfDay(now.Add(time.Hour), now) + " true\na full 120%  true\nb plain 25%  false\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	noon := time.Date(now.Year(), now.Month(), now.Day(), 12, 0, 0, 0, time.UTC)
	list[1].Resets.Time, list[1].Forecast.Full.Time = noon.Add(3*time.Hour), noon.Add(13*time.Hour)
	if line := list[1].Words(noon); line != "fills 60% used, resets 15:00 (forecast: full at about "+noon.Add(12*time.Hour).Format("Jan 2")+" 01:00)" {
		t.Error(line)
	}
	data, err := json.Marshal(list[3])
	must.OK(t, err)
	for _, part := range []string{`"account":"b","window":"plain","model":"opus","used":0.25,"resets_at":"2`, `"told_by":null,"warning":false,"forecast":null}`} {
		if !strings.Contains(string(data), part) {
			t.Errorf("%s lacks %s", data, part)
		}
	}
}

// A file of a gate that someone else has written can be shown: few windows, all printable, no number that JSON has no form for.
func TestLimits_HostileFile(t *testing.T) {
	s := &state.State{Dir: t.TempDir()}
	must.OK(t, os.MkdirAll(s.Gates().Dir, 0o700))
	now, hour := time.Now().Format(time.RFC3339), time.Now().Add(-time.Hour).Format(time.RFC3339)
	soon := time.Now().Add(time.Hour).Format(time.RFC3339)
	var windows []string
	for i := range 5000 {
		windows = append(windows, fmt.Sprintf(`{"name":"\u001b[2J\n%d\u202e","used":%d,"resets":%q,"told":%q,"by":"\u001b]0;x\u0007"}`, i, i%1000, soon, now))
	}
	for _, odd := range []string{`"used":1e308`, `"used":-1`, `"used":1000,"trail":[{"at":"` + hour + `","used":-1e308}]`, `"used":1000,"length":-5,"trail":[{"at":"0001-01-01T00:00:00Z","used":0}]`} {
		windows = append([]string{fmt.Sprintf(`{"name":"!%d",%s,"resets":%q,"told":%q}`, len(odd), odd, soon, now)}, windows...)
	}
	file := fmt.Sprintf(`{"v":1,"key":"k\u001b[31m%s","state":{"quota":[%s]}}`, strings.Repeat("k", 10_000), strings.Join(windows, ","))
	must.OK(t, os.WriteFile(filepath.Join(s.Gates().Dir, "x.json"), []byte(file), 0o600))
	_, list, err := overview.Gates(s)
	if err != nil || len(list) == 0 || len(list) > 16 {
		t.Fatalf("%d limits, %v", len(list), err)
	}
	if _, err := json.Marshal(list); err != nil {
		t.Error(err)
	}
	for _, l := range list {
		text := l.Account + l.Words(time.Now())
		if l.By != nil {
			text += *l.By
		}
		if strings.ContainsFunc(text, unicode.IsControl) || strings.ContainsRune(text, '\u202e') || len(text) > 500 {
			t.Errorf("%q", text)
		}
	}
}

// A run that waits for a reserve says that the gate of its account is on hold: it is shown as that, though it holds no other run.
func TestGatesOf_Reserve(t *testing.T) {
	now := time.Now()
	w := window(now, "five_hour", 0.84, 0.64, time.Hour)
	why := quota.Reserve{"": 0.2}.Say(&w)
	runs := []supervise.Record{{State: supervise.StateWaiting, Until: w.Resets, Reason: "gate claude:api: " + message.GateState(gate.Refusal{Kind: gate.KindHold, Reason: why})}}
	for range 2 { // of several runs one gate
		gates := overview.GatesOf([]gate.Entry{{Key: "claude:api", State: gate.State{Quota: quota.Quota{w}}}}, now, runs, func(int) overview.Waiter { return overview.Waiter{} })
		if len(gates) != 1 || len(gates[0].Waiting) != len(runs) || !gates[0].Closed(now) {
			t.Fatalf("%+v", gates)
		}
		if state, _, until, reason := gates[0].Columns(now); gates[0].Key != "claude:api" || state != "held" || until.Sub(w.Resets).Abs() > time.Second || reason != why {
			t.Errorf("%s: %s until %v: %s", gates[0].Key, state, until, reason)
		}
		runs = append(runs, runs[0])
	}
}
