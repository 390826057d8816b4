package record_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

func TestInvocations_Filters(t *testing.T) {
	w := newWorld(t)
	w.append(story()...)
	other := run(20)
	other.Profile, other.Session, other.Model = "codex", "s9", "gpt"
	w.append(other)
	d, _ := w.fold()
	at := func(n int) time.Time { return run(n).Timestamp.Time }
	tests := map[string]struct {
		filter record.Filter
		want   string
	}{
		"all":            {record.Filter{}, "1 2 3 4 5 20"},
		"the newest":     {record.Filter{Limit: 2}, "5 20"},
		"since":          {record.Filter{Since: at(3)}, "3 4 5 20"},
		"until":          {record.Filter{Until: at(3)}, "1 2"},
		"profile":        {record.Filter{Profile: "codex"}, "20"},
		"ok":             {record.Filter{Class: "ok"}, "2 20"},
		"failed":         {record.Filter{Class: record.Failed}, "1 3 4 5"},
		"a class":        {record.Filter{Class: "network"}, "1"},
		"session":        {record.Filter{Session: "s2"}, "2"},
		"a whole id":     {record.Filter{Invocation: "run-000003"}, "3"},
		"the end of one": {record.Filter{Invocation: "00003"}, "3"},
		"the beginning":  {record.Filter{Invocation: "run-00002"}, "20"},
		"and since":      {record.Filter{Invocation: "03", Since: at(1), Profile: "claude"}, "3"},
		"nobody":         {record.Filter{Invocation: "%"}, ""},
		"quotes":         {record.Filter{Session: "' OR 1=1 --"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			list, err := d.Runs.Invocations(ctx, tt.filter)
			must.OK(t, err)
			var ids []string
			for _, i := range list {
				var n int
				fmt.Sscanf(i.ID, "run-%d", &n)
				ids = append(ids, fmt.Sprint(n))
			}
			if got := strings.Join(ids, " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	list, err := d.Runs.Attempts(ctx, record.Filter{Invocation: "run-000001"})
	if err != nil || len(list) != 3 || list[0].Attempt != 1 || list[2].Error != "connection reset again" || list[2].RetryAt == nil {
		t.Errorf("%+v, %v", list, err)
	}
}

// What the database adds up is what the log says, for any times, groups and zones.
func TestStats_AsTheLogSays(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 0))
	w := newWorld(t)
	var all []journal.Entry
	classes := []verdict.Class{verdict.OK, verdict.OK, verdict.OK, verdict.Network, verdict.NotDone, verdict.RateLimit}
	for n := range 2000 {
		e := run(n)
		e.Timestamp.Time = t0.Add(time.Duration(random.Int64N(int64(10*24*time.Hour) / 1e6 * 1e6)).Round(time.Millisecond))
		e.Profile = []string{"claude", "codex", "generic"}[random.IntN(3)]
		e.Model = []string{"", "opus", "haiku"}[random.IntN(3)]
		e.Usage = nil
		if random.IntN(2) == 0 {
			e.Usage = usage(random.Int64N(1000), random.Int64N(100), 0.25)
		}
		e.Attempt, e.Requests = random.IntN(3), random.IntN(4)
		if e.WaitTime = float64(random.IntN(2)); e.WaitTime > 0 {
			e.GateWait = 0.25
		}
		if c := classes[random.IntN(len(classes))]; c != verdict.OK {
			e = failed(e, []journal.Status{journal.Error, journal.Retry}[random.IntN(2)], c, "no")
		}
		if random.IntN(3) == 0 {
			e.Check = &journal.Check{Round: random.IntN(3), Passed: e.Status == journal.Success && random.IntN(4) > 0, ExitCode: 1, Time: 0.5}
		}
		if random.IntN(10) == 0 { // a hook or a server, and what is no failure of theirs
			e.Kind = []journal.Kind{journal.Hook, journal.MCP}[random.IntN(2)]
			e.Profile, e.Model, e.Event, e.Usage = string(e.Kind)+":x", "", "crash", nil
			e.ErrorType, e.Status = []verdict.Class{verdict.Crash, verdict.BreakerOpen, ""}[random.IntN(3)], journal.Error
			e.Detail = json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))
		}
		all = append(all, e)
	}
	w.append(all...)
	d, _ := w.fold()
	for range 60 {
		zone, err := time.LoadLocation([]string{"UTC", "Europe/Berlin", "Asia/Kathmandu", "America/St_Johns", "Pacific/Chatham"}[random.IntN(5)])
		must.OK(t, err)
		f := record.Filter{Profile: []string{"", "claude"}[random.IntN(2)], Class: []string{"", "ok", record.Failed}[random.IntN(3)]}
		if random.IntN(4) > 0 {
			f.Since = t0.Add(time.Duration(random.Int64N(int64(11 * 24 * time.Hour)))).Truncate(time.Millisecond)
		}
		if random.IntN(4) > 0 {
			f.Until = t0.Add(time.Duration(random.Int64N(int64(11 * 24 * time.Hour)))).Truncate(time.Millisecond)
		}
		by := record.Groups[random.IntN(4)]
		groups, total, err := d.Stats.Groups(ctx, f, by, zone)
		must.OK(t, err)
		var got []string
		for _, g := range append(groups, total) {
			got = append(got, figures(g))
		}
		if want := expected(all, f, by, zone, groups); strings.Join(got, "\n") != want {
			t.Fatalf("%+v by %s in %v:\ngot:\n%s\nwant:\n%s", f, by, zone, strings.Join(got, "\n"), want)
		}
	}
}

func figures(g record.Figures) string {
	cost := "–"
	if g.Usage.CostUSD != nil {
		cost = fmt.Sprintf("%.2f", *g.Usage.CostUSD)
	}
	return fmt.Sprintf("%s: %d %d %d %d %d %d, %d %d, %d %d %s, %d %d %d", g.Key, g.Invocations, g.Succeeded, g.Refused, g.Attempts, g.Requests, g.Faults, g.WaitMS, g.ResponseMS,
		g.Usage.InputTokens, g.Usage.OutputTokens, cost, g.DoneFirst, g.DoneLater, g.NotDone)
}

// expected adds up by hand, in the order of the groups that were found.
func expected(all []journal.Entry, f record.Filter, by record.Group, zone *time.Location, order []record.Figures) string {
	sums := map[string]*record.Figures{}
	total := &record.Figures{}
	for _, e := range all {
		class := string(e.ErrorType)
		if class == "" {
			class = "ok"
		}
		if e.Kind != "" && e.ErrorType != verdict.Crash {
			continue
		}
		if at := e.Timestamp; !f.Since.IsZero() && at.Before(f.Since) || !f.Until.IsZero() && !at.Before(f.Until) || f.Profile != "" && e.Profile != f.Profile ||
			f.Class == "ok" && class != "ok" || f.Class == record.Failed && class == "ok" || !f.Since.IsZero() && !f.Until.IsZero() && !f.Since.Before(f.Until) {
			continue
		}
		key := map[record.Group]string{record.ByDay: e.Timestamp.In(zone).Format(time.DateOnly), record.ByProfile: e.Profile, record.ByModel: e.Model, record.ByClass: class}[by]
		if sums[key] == nil {
			sums[key] = &record.Figures{Key: key}
		}
		for _, s := range []*record.Figures{sums[key], total} {
			if e.Kind != "" {
				s.Faults++
				continue
			}
			s.Requests += int64(e.Requests)
			if e.Status != journal.Retry {
				s.Invocations++
			}
			if e.Status == journal.Success {
				s.Succeeded++
			}
			switch c := e.Check; {
			case e.ErrorType == verdict.NotDone && e.Status != journal.Retry:
				s.NotDone++
			case c == nil || !c.Passed || e.Attempt == 0 || e.Status != journal.Success:
			case c.Round > 0:
				s.DoneLater++
			default:
				s.DoneFirst++
			}
			if e.Attempt == 0 && e.Status != journal.Success {
				s.Refused++
			} else if e.Attempt > 0 {
				s.Attempts++
			}
			s.WaitMS += int64((e.WaitTime - e.Planned() + e.GateWait) * 1000) // a planned wait has not been waited yet
			s.ResponseMS += int64(e.ResponseTime * 1000)
			var u verdict.Usage
			unmarshal(e.Usage, &u)
			s.Usage = s.Usage.Add(u)
		}
	}
	var out []string
	for _, g := range order {
		if sums[g.Key] != nil {
			out = append(out, figures(*sums[g.Key]))
			delete(sums, g.Key)
		}
	}
	for _, s := range sums {
		out = append(out, "missing: "+figures(*s))
	}
	return strings.Join(append(out, figures(*total)), "\n")
}

func TestLists(t *testing.T) {
	w := newWorld(t)
	w.append(story()...)
	d, _ := w.fold()
	events, err := d.Trail.Events(ctx, record.Filter{Profile: "hook:fmt"}, "")
	if err != nil || len(events) != 1 || events[0].Category != "hook" {
		t.Errorf("%+v, %v", events, err)
	}
	if events, err = d.Trail.Events(ctx, record.Filter{Session: "s1"}, ""); err != nil || len(events) != 2 {
		t.Errorf("%+v, %v", events, err)
	}
	if events, err = d.Trail.Events(ctx, record.Filter{Class: "network", Limit: 1}, "integration"); err != nil || len(events) != 1 {
		t.Errorf("%+v, %v", events, err)
	}
	sessions, err := d.Sessions.List(ctx, record.Filter{Profile: "claude"}, "failed")
	if err != nil || len(sessions) != 1 || sessions[0].Error != "connection reset again" || *sessions[0].Usage.CostUSD < 0.029 {
		t.Errorf("%+v, %v", sessions, err)
	}
	if sessions, err = d.Sessions.List(ctx, record.Filter{Session: "2"}, ""); err != nil || len(sessions) != 1 {
		t.Errorf("%+v, %v", sessions, err)
	}
	audit, err := d.Trail.Audit(ctx, record.Filter{}, "gate_hold")
	if err != nil || len(audit) != 1 || audit[0].Subject != "api" || audit[0].IsRetryable != nil || !strings.Contains(string(audit[0].Detail), "until") {
		t.Errorf("%+v, %v", audit, err)
	}
	if audit, err = d.Trail.Audit(ctx, record.Filter{Session: "s1", Class: record.Failed}, ""); err != nil || len(audit) != 1 || !*audit[0].IsRetryable {
		t.Errorf("%+v, %v", audit, err)
	}
	if alerts, err := d.Alerts.List(ctx, record.Filter{Profile: "claude"}); err != nil || len(alerts) != 1 || alerts[0].Failures != 5 {
		t.Errorf("%+v, %v", alerts, err)
	}
}

// Of many processes one claims an alert; if its delivery fails, others may retry, a few times.
func TestClaimAlert(t *testing.T) {
	w := newWorld(t)
	w.append(story()...)
	d, _ := w.fold()
	now := run(9).Timestamp.Time
	claimed := func(at time.Time) bool {
		t.Helper()
		_, ok, err := d.Alerts.Claim(ctx, at, time.Time{})
		must.OK(t, err)
		return ok
	}
	a, ok, err := d.Alerts.Claim(ctx, now, time.Time{})
	if err != nil || !ok || a.Integration != "claude" || a.Tries != 1 {
		t.Fatalf("%+v, %v, %v", a, ok, err)
	}
	if claimed(now.Add(time.Minute)) {
		t.Error("claimed while another has it")
	}
	if !claimed(now.Add(3 * time.Minute)) {
		t.Error("not claimed though who had it must be dead")
	}
	must.OK(t, d.Alerts.Delivered(ctx, a, now.Add(3*time.Minute), fmt.Errorf("HTTP 500")))
	for n := 3; n <= 6; n++ {
		if !claimed(now.Add(time.Duration(n) * time.Hour)) {
			t.Errorf("not tried for the %dth time", n)
		}
	}
	if claimed(now.Add(7 * time.Hour)) {
		t.Error("tried for ever")
	}
	w.expect("HTTP 500||6", "SELECT trouble, delivered, tries FROM alerts")
	must.OK(t, d.Alerts.Delivered(ctx, a, now, nil))
	w.expect("|1", "SELECT trouble, delivered IS NOT NULL FROM alerts")
}

func TestClaimAlert_OldIsNoNews(t *testing.T) {
	w := newWorld(t)
	w.append(story()...)
	d, _ := w.fold()
	if _, ok, err := d.Alerts.Claim(ctx, t0.Add(48*time.Hour), time.Time{}); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
}

// A run that was killed while it waited has ended with that, also if the line of the attempt before has the same time.
func TestInvocations_KilledWhileWaiting(t *testing.T) {
	w := newWorld(t)
	e := journal.Entry{Timestamp: journal.Time{Time: t0}, Invocation: "run", Profile: "generic", Command: "sh", Attempt: 1, Status: journal.Retry,
		ErrorType: verdict.Unknown, Error: "sh exited 1", WaitTime: 60}
	w.append(e)
	e.Attempt, e.Status, e.ErrorType, e.Error, e.WaitTime, e.GateWait = 0, journal.Error, verdict.Interrupted, "belay was killed", 0, -60
	w.append(e)
	d, _ := w.fold()
	if all, err := d.Runs.Invocations(ctx, record.Filter{}); err != nil || len(all) != 1 || all[0].Error != "belay was killed" || all[0].Class != "interrupted" {
		t.Errorf("%+v, %v", all, err)
	}
}

// Other programs add events as seed 003 does, to a new record and to one of an older version, whose rows are kept; what could not be read again is refused.
func TestEvents_OfOthers(t *testing.T) {
	for _, older := range []bool{false, true} {
		w := newWorld(t)
		kept := ""
		if older {
			restore := record.Schema(13)
			w.open().Close()
			w.exec(`INSERT INTO events (timestamp, category, event_type, metadata, source) VALUES (1793534400000, 'integration', 'failure', '{"integration":"claude"}', 'run-000000'), (1793534400000.5, 'x', 'y', '{"a":1}', 'a'), (1793534400001, 'x', 'y', 'torn {', 'b')`)
			kept = w.query("SELECT id, timestamp, category, event_type, metadata, source FROM events WHERE source NOT IN ('a', 'b')")
			restore()
		}
		d, _ := w.fold()
		w.exec(`INSERT INTO events (timestamp, category, event_type, metadata) VALUES (1793534500000, 'integration', 'failure', '{"integration":"kb","error":"down","retry_count":3}')`)
		w.exec(`INSERT INTO events (timestamp, category, event_type, metadata) VALUES (1793534500000, 'integration', 'failure', '{"integration":"kb","error":"down","retry_count":3}')`)
		file, err := sql.Open("sqlite", filepath.Join(w.dir, record.Name))
		must.OK(t, err)
		defer file.Close()
		for _, values := range []string{"'yesterday', 'a', 'b', '{}'", "1.5, 'a', 'b', '{}'", "1, 'a', 'b', 'torn {'", "1, 'a', 'b', NULL"} {
			if _, err := file.Exec("INSERT INTO events (timestamp, category, event_type, metadata) VALUES (" + values + ")"); err == nil {
				t.Errorf("%s is taken", values)
			}
		}
		if list, err := d.Trail.Events(ctx, record.Filter{Profile: "kb"}, "integration"); err != nil || len(list) != 2 || string(list[0].Metadata) != `{"integration":"kb","error":"down","retry_count":3}` {
			t.Errorf("%+v, %v", list, err)
		}
		all, err := d.Trail.Events(ctx, record.Filter{}, "")
		if want := map[bool]int{false: 2, true: 5}[older]; err != nil || len(all) != want {
			t.Errorf("%d events, want %d: %v", len(all), want, err)
		}
		if older {
			w.expect(kept, "SELECT id, timestamp, category, event_type, metadata, source FROM events WHERE source NOT IN ('a', 'b') AND source NOT LIKE 'given %'")
			w.expect(`1793534400000|{"a":1}`+"\n"+`1793534400001|{"error":"torn {"}`, "SELECT timestamp, metadata FROM events WHERE source IN ('a', 'b') ORDER BY 1")
		}
	}
}
