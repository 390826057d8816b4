package record_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// labelledRuns are of some names, projects and profiles over three days: every tenth fails, every seventh is retried.
func labelledRuns(n int) (list []journal.Entry) {
	for i := range n {
		e := run(i * 10)
		e.Name, e.Project, e.Tags = []string{"", "nightly", "review"}[i%3], fmt.Sprintf("/p%d", i%4), map[string]string{"team": []string{"a", "b"}[i%2]}
		e.Profile, e.FirstToken = []string{"claude", "codex"}[i/5%2], 0.1*float64(1+i%20)
		if i%7 == 0 {
			first := failed(e, journal.Retry, verdict.Overloaded, "529")
			first.WaitTime = 2
			list = append(list, first)
			e.Attempt, e.Timestamp.Time = 2, e.Timestamp.Add(3*time.Second)
		}
		if i%10 == 0 {
			e = failed(e, journal.Error, verdict.Auth, "Invalid API key")
		}
		if i%50 == 3 {
			e.Fallback, e.Profile = "codex", "codex"
		}
		list = append(list, e)
	}
	return list
}

func dayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// What the sums say is what the rows say, by every group and with every filter.
func TestSeries_IsWhatTheRowsSay(t *testing.T) {
	w := newWorld(t)
	w.append(labelledRuns(400)...)
	d, _ := w.fold()
	for _, f := range []record.Filter{{}, {Profile: "claude"}, {Class: "auth"}, {Class: record.Failed}, {Name: "nightly"}, {Project: "/p1"}, {Tags: map[string]string{"team": "a"}},
		{Profile: "claude", Class: "auth", Since: t0.Add(24 * time.Hour)}, {Name: "nightly", Profile: "claude", Until: t0.Add(36 * time.Hour)}, {Name: "nightly", Project: "/p1"}} {
		for _, by := range []record.Group{record.ByProfile, record.ByModel, record.ByClass, record.ByDay, record.ByName, record.ByProject, "tag.team"} {
			points, err := d.Stats.Series(ctx, f, record.Reliability|record.Spending, dayOf, by)
			must.OK(t, err)
			got := map[string]record.Figures{}
			for _, p := range points {
				key := p.Key
				if by == record.ByDay {
					key = p.At.Format(time.DateOnly)
				}
				sum := got[key]
				sum.Invocations += p.Invocations
				sum.Attempts += p.Attempts
				sum.WaitMS += p.WaitMS
				sum.Usage.InputTokens += p.Usage.InputTokens
				got[key] = sum
			}
			want, _, err := d.Stats.Groups(ctx, f, by, time.UTC)
			must.OK(t, err)
			n := 0
			for _, figures := range want {
				if figures.Key == "" && by == record.ByName {
					continue // Series has no group for runs without the label
				}
				n++
				g := got[figures.Key]
				if g.Invocations != figures.Invocations || g.Attempts != figures.Attempts || g.WaitMS != figures.WaitMS || g.Usage.InputTokens != figures.Usage.InputTokens {
					t.Errorf("%+v by %s, %s: %+v, want %+v", f, by, figures.Key, g, figures)
				}
			}
			if n == 0 && by != record.ByName {
				t.Errorf("%+v by %s: nothing is compared", f, by)
			}
		}
	}
}

// Steps that are not equally long, and labels with very many values, are added up like all others.
func TestSeries_Steps(t *testing.T) {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Skip(err)
	}
	begin := time.Date(2026, 10, 30, 11, 7, 0, 0, zone) // the clocks are set back on 1 November
	w := newWorld(t)
	var want []time.Time
	for i := range 500 {
		e := run(i)
		e.Timestamp.Time, e.Name = begin.Add(time.Duration(i)*37*time.Minute), fmt.Sprintf("n%d", i%40)
		want = append(want, e.Timestamp.Time)
		w.append(e)
	}
	d, _ := w.fold()
	for name, start := range map[string]func(time.Time) time.Time{
		"quarter": func(t time.Time) time.Time { return t.In(zone).Truncate(15 * time.Minute) },
		"hour":    func(t time.Time) time.Time { return t.In(zone).Truncate(time.Hour) },
		"day": func(t time.Time) time.Time {
			t = t.In(zone)
			return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, zone)
		},
		"month": func(t time.Time) time.Time {
			t = t.In(zone)
			return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, zone)
		},
		"none": func(time.Time) time.Time { return time.Time{} },
	} {
		for _, by := range [][]record.Group{{record.ByProfile}, {record.ByName}, {record.ByClass, record.ByProfile}} {
			since := begin.Add(26 * time.Hour).Truncate(15 * time.Minute)
			points, err := d.Stats.Series(ctx, record.Filter{Since: since}, record.Reliability, start, by...)
			must.OK(t, err)
			counts, last := map[int64]int64{}, time.Time{}
			for _, p := range points {
				counts[p.At.Unix()] += p.Attempts
				if p.At.Before(last) || (len(by) == 2) != (p.Second != "") {
					t.Fatalf("%s by %s: %+v after %v", name, by, p, last)
				}
				last = p.At
			}
			for _, at := range want {
				if !at.Before(since) {
					counts[start(at).Unix()]--
				}
			}
			for at, n := range counts {
				if n != 0 {
					t.Errorf("%s by %s: %d too many at %v", name, by, n, time.Unix(at, 0).In(zone))
				}
			}
		}
	}
}

// Recent finds what Invocations finds, with every filter.
func TestRecent_FindsTheSame(t *testing.T) {
	w := newWorld(t)
	w.append(labelledRuns(400)...)
	d, _ := w.fold()
	for _, f := range []record.Filter{{}, {Profile: "claude"}, {Profile: "codex"}, {Class: "auth"}, {Profile: "claude", Class: "auth"}, {Name: "nightly"}, {Tags: map[string]string{"team": "b"}},
		{Project: "/p2", Name: "review"}, {Profile: "claude", Class: record.Failed, Since: t0.Add(20 * time.Hour)}, {Profile: "nothing"}, {Session: "s1"},
		{Profile: "claude", Since: t0.Add(5*time.Hour + 7*time.Minute), Until: t0.Add(50*time.Hour + 3*time.Minute)}} {
		for _, limit := range []int{5, 1000} {
			f.Limit = limit
			got, err := d.Runs.Recent(ctx, f)
			must.OK(t, err)
			want, err := d.Runs.Invocations(ctx, f)
			must.OK(t, err)
			if len(got) != len(want) {
				t.Fatalf("%+v: %d runs, want %d", f, len(got), len(want))
			}
			for i := range got {
				if got[i].ID != want[len(want)-1-i].ID {
					t.Fatalf("%+v: run %d is %s, want %s", f, i, got[i].ID, want[len(want)-1-i].ID)
				}
			}
		}
	}
}

// The tables of schema 10 are made of what older versions have recorded, prune keeps them right, and a fold in many pieces adds up.
func TestLabelRollup_OfOlderRecord(t *testing.T) {
	tables := []string{"SELECT * FROM label_rollup", "SELECT * FROM first_tokens"}
	lines := labelledRuns(300)
	fresh := newWorld(t)
	for _, e := range lines {
		fresh.append(e)
	}
	fresh.fold()
	old := newWorld(t)
	for i, e := range lines {
		if old.append(e); i%100 == 50 {
			old.fold()
		}
	}
	old.fold()
	check := func(what string) {
		t.Helper()
		for _, query := range tables {
			if one, other := fresh.query(query), old.query(query); one != other || one == "" {
				t.Errorf("%s: %s\n%.2000s\nbut\n%.2000s", what, query, one, other)
			}
		}
	}
	old.exec("UPDATE label_rollup SET cost_usd = round(cost_usd, 6)")
	fresh.exec("UPDATE label_rollup SET cost_usd = round(cost_usd, 6)")
	check("folded in pieces")
	old.exec(withoutMachines + "DROP TABLE label_rollup; DROP TABLE first_tokens; DROP TABLE outbox; DROP TABLE exporter; DROP INDEX invocations_fallback; PRAGMA user_version = 9")
	d := old.open()
	old.exec("UPDATE label_rollup SET cost_usd = round(cost_usd, 6)")
	check("migrated")
	before := t0.Add(24 * time.Hour)
	if _, err := d.Prune(ctx, before, false); err != nil {
		t.Fatal(err)
	}
	old.expect("0|0", "SELECT (SELECT count(*) FROM label_rollup WHERE quarter < ?1), (SELECT count(*) FROM first_tokens WHERE quarter < ?1)", before.UnixMilli()/900000)
	old.expect(old.query("SELECT sum(attempts) FROM rollup"), "SELECT sum(attempts) FROM label_rollup WHERE label = 'project'")
}

func TestFirstTokens(t *testing.T) {
	w := newWorld(t)
	w.append(labelledRuns(400)...)
	d, _ := w.fold()
	list, err := d.Stats.FirstTokens(ctx, record.Filter{Since: t0.Add(12 * time.Hour), Until: t0.Add(36 * time.Hour)}, dayOf)
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	p := list[0]
	if p.N < 144 || math.Abs(p.P50-1050) > 100 || math.Abs(p.P90-1850) > 150 { // of 0.1 s to 2 s
		t.Errorf("percentiles are %+v", p)
	}
}

func TestValues(t *testing.T) {
	w := newWorld(t)
	w.append(labelledRuns(40)...)
	d, _ := w.fold()
	for _, test := range []struct {
		of   record.Group
		want string
	}{{record.ByName, "[nightly review]"}, {record.ByProject, "[/p0 /p1 /p2 /p3]"}, {"tag.team", "[a b]"}, {record.ByProfile, "[claude codex]"}, {"tag.none", "[]"}} {
		if list, err := d.Stats.Values(ctx, test.of, 100); err != nil || fmt.Sprint(list) != test.want {
			t.Errorf("%s: %v, %v", test.of, list, err)
		}
	}
	if keys, err := d.Stats.TagKeys(ctx, 100); err != nil || fmt.Sprint(keys) != "[team]" {
		t.Errorf("keys: %v, %v", keys, err)
	}
}
