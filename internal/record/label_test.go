package record_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// labelled is a run that has ended, which has cost so much; less than 0 is not known.
func labelled(id, parent, name string, minute int, cost float64, tags map[string]string) journal.Entry {
	e := journal.Entry{Timestamp: journal.Time{Time: t0.Add(time.Duration(minute) * time.Minute)}, Invocation: id, Profile: "claude", Command: "claude",
		Attempt: 1, Status: journal.Success, BelayCode: new(0), Parent: parent, Name: name, Tags: tags, Project: "/home/me/app"}
	switch {
	case cost < 0:
		e.Usage = verdict.Usage{InputTokens: 10}.JSON()
	case cost > 0:
		e.Usage = verdict.Usage{InputTokens: 10, CostUSD: &cost}.JSON()
	}
	return e
}

func (w *world) append4(t *testing.T) *record.DB {
	t.Helper()
	web := map[string]string{"team": "web", "env": "ci"}
	w.append(
		labelled("leaf", "child", "nightly", 1, 0.25, web),
		labelled("child", "root", "nightly", 2, 0.5, web),
		labelled("other", "root", "nightly", 3, -1, map[string]string{"team": "data"}),
		labelled("root", "", "nightly", 4, 0, web),
		labelled("alone", "", "", 5, 1, nil),
		labelled("orphan", "gone", "", 6, 2, nil),
		journal.Entry{Timestamp: journal.Time{Time: t0.Add(time.Minute)}, Kind: journal.Hook, Event: "PreToolUse", Profile: "hook:guard", Invocation: "hook-1",
			Attempt: 1, Status: journal.Error, ErrorType: verdict.Crash, Error: "it has crashed", Tags: web, Name: "nightly", Project: "/home/me/app"},
	)
	d, _ := w.fold()
	return d
}

func TestStats_ByLabels(t *testing.T) {
	d := newWorld(t).append4(t)
	for by, want := range map[record.Group]string{
		record.ByName:    "[nightly 4 $0.75 +1 faults=1] [ 2 $3 +0 faults=0]",
		record.ByProject: "[/home/me/app 6 $3.75 +1 faults=1]",
		"tag.team":       "[web 3 $0.75 +0 faults=1] [ 2 $3 +0 faults=0] [data 1 $0 +1 faults=0]",
		"tag.none":       "[ 6 $3.75 +1 faults=1]",
	} {
		groups, total, err := d.Stats.Groups(ctx, record.Filter{}, by, time.UTC)
		must.OK(t, err)
		got := ""
		for _, g := range groups {
			cost := 0.0
			if g.Usage.CostUSD != nil {
				cost = *g.Usage.CostUSD
			}
			got += fmt.Sprintf(" [%s %d $%g +%d faults=%d]", g.Key, g.Invocations, cost, g.UnknownCosts, g.Faults)
		}
		if got != " "+want || total.Invocations != 6 || *total.Usage.CostUSD != 3.75 || total.UnknownCosts != 1 {
			t.Errorf("by %s:%s\nwant %s", by, got, want)
		}
	}
	for _, f := range []record.Filter{{Name: "nightly"}, {Tags: map[string]string{"team": "web"}}, {Project: "/home/me/app"}, {Project: "/elsewhere"}} {
		for _, by := range []record.Group{record.ByDay, record.ByClass, record.ByName, "tag.team"} {
			_, total, err := d.Stats.Groups(ctx, f, by, time.UTC)
			runs, rerr := d.Runs.Invocations(ctx, f)
			if err != nil || rerr != nil || total.Invocations != int64(len(runs)) {
				t.Errorf("%+v by %s: %d, listed are %d (%v, %v)", f, by, total.Invocations, len(runs), err, rerr)
			}
		}
	}
}

func TestParseGroup(t *testing.T) {
	for _, text := range []string{"day", "profile", "model", "class", "name", "project", "tag.team", "tag.a.b"} {
		if _, err := record.ParseGroup(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"", "week", "tag", "tag.", `tag."x`, "tag.a'b", "tags.team"} {
		if _, err := record.ParseGroup(text); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

// shown are the lines of a tree: depth, id, runs, cost and how many are unknown.
func shown(nodes []record.Node) (text string) {
	for _, n := range nodes {
		cost := 0.0
		if n.Total.Usage.CostUSD != nil {
			cost = *n.Total.Usage.CostUSD
		}
		text += fmt.Sprintf(" %d:%s(%d,$%g,+%d)", n.Depth, n.ID, n.Total.Runs, cost, n.Total.UnknownCosts)
	}
	return text
}

func TestTree(t *testing.T) {
	d := newWorld(t).append4(t)
	whole := " 0:root(4,$0.75,+1) 1:child(2,$0.75,+0) 2:leaf(1,$0.25,+0) 1:other(1,$0,+1) 0:alone(1,$1,+0) 0:gone(2,$2,+1) 1:orphan(1,$2,+0)"
	for name, tt := range map[string]struct {
		filter record.Filter
		live   []record.Invocation
		want   string
	}{
		"all":            {want: whole},
		"one of a tree":  {filter: record.Filter{Tags: map[string]string{"team": "data"}}, want: whole[:len(" 0:root(4,$0.75,+1) 1:child(2,$0.75,+0) 2:leaf(1,$0.25,+0) 1:other(1,$0,+1)")]},
		"below a run":    {filter: record.Filter{Invocation: "child"}, want: " 0:child(2,$0.75,+0) 1:leaf(1,$0.25,+0)"},
		"under way":      {filter: record.Filter{Invocation: ""}, live: []record.Invocation{{ID: "gone", Parent: "far"}, {ID: "far"}}, want: whole[:len(whole)-len(" 0:gone(2,$2,+1) 1:orphan(1,$2,+0)")] + " 0:far(3,$2,+2) 1:gone(2,$2,+1) 2:orphan(1,$2,+0)"},
		"none of a name": {filter: record.Filter{Name: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			nodes, err := d.Runs.Tree(ctx, tt.filter, tt.live)
			if got := shown(nodes); err != nil || got != tt.want {
				t.Errorf("%s, %v\nwant %s", got, err, tt.want)
			}
		})
	}
}

// A log can say anything, also that runs are inside each other.
func TestTree_Circle(t *testing.T) {
	w := newWorld(t)
	w.append(labelled("a", "b", "", 1, 1, nil), labelled("b", "a", "", 2, 1, nil), labelled("c", "c", "", 3, 1, nil), labelled("d", "c", "", 4, 1, nil))
	d, _ := w.fold()
	nodes, err := d.Runs.Tree(ctx, record.Filter{}, nil)
	if err != nil || len(nodes) != 4 {
		t.Errorf("%s, %v", shown(nodes), err)
	}
}

// Labels are on record where they are asked for.
func TestLabels_AreOnRecord(t *testing.T) {
	w := newWorld(t)
	e := labelled("one", "", "nightly", 1, 1, map[string]string{"team": "web"})
	e.Session, e.Status, e.ErrorType, e.Error = "s", journal.Error, verdict.Crash, "it has crashed"
	w.append(e, journal.Entry{Timestamp: e.Timestamp, Kind: journal.Alert, Event: "raised", Profile: "claude", Invocation: "one", Status: journal.Success,
		Detail: json.RawMessage(`{"failures":5,"within_s":600}`), Name: e.Name, Tags: e.Tags, Project: e.Project})
	d, _ := w.fold()
	runs, rerr := d.Runs.Invocations(ctx, record.Filter{})
	sessions, serr := d.Sessions.List(ctx, record.Filter{Name: "nightly", Tags: e.Tags}, "")
	alerts, aerr := d.Alerts.List(ctx, record.Filter{})
	if rerr != nil || serr != nil || aerr != nil || len(runs)*len(sessions)*len(alerts) != 1 {
		t.Fatalf("%d runs, %d sessions, %d alerts: %v %v %v", len(runs), len(sessions), len(alerts), rerr, serr, aerr)
	}
	for what, got := range map[string]string{
		"run":     fmt.Sprint(runs[0].Name, runs[0].Tags, runs[0].Project),
		"session": fmt.Sprint(sessions[0].Name, sessions[0].Tags, sessions[0].Project),
		"alert":   fmt.Sprint(alerts[0].Name, alerts[0].Tags, alerts[0].Project),
		"event":   w.query("SELECT json_extract(metadata, '$.name') || json_extract(metadata, '$.tags') || json_extract(metadata, '$.project') FROM events"),
	} {
		if want := "nightlymap[team:web]/home/me/app"; got != want && got != `nightly{"team":"web"}/home/me/app` {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
}
