package record_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// tooled is an attempt with all that the log can tell of one.
func tooled() journal.Entry {
	e := run(1000)
	e.Status, e.ErrorType, e.Error, e.BelayCode = journal.Exhausted, verdict.Overloaded, "overloaded", new(75)
	e.ExitCode, e.FirstToken, e.InnerRetries = 1, 0.25, 3
	e.Tools = []journal.Tool{{Name: "Bash", Count: 2, Time: 1.5}, {Name: "…", Count: 1}}
	e.ToolCalls = []journal.ToolCall{{Name: "Bash", Start: 0.5, Time: 1}}
	e.ToolsCut, e.Parent, e.Traceparent = 2, "01a1dddf-2699-7e0f-b6ac-b8cbd5705481", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	return e
}

// What a line tells is what the record tells.
func TestRecord_KeepsWhatALineTells(t *testing.T) {
	w := newWorld(t)
	want := tooled()
	first := want
	first.Attempt, first.Status, first.BelayCode, first.InnerRetries, want.Attempt = 1, journal.Retry, nil, 1, 2
	first.Timestamp = journal.Time{Time: want.Timestamp.Add(-time.Second)}
	w.append(first, want)
	d, _ := w.fold()
	list, err := d.Runs.Attempts(ctx, record.Filter{})
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	if list[0].BelayCode != nil {
		t.Errorf("belay has not ended after the first: %d", *list[0].BelayCode)
	}
	got := list[1]
	if !reflect.DeepEqual(got.Tools, want.Tools) || !reflect.DeepEqual(got.ToolCalls, want.ToolCalls) || got.ToolsCut != 2 || *got.FirstMS != 250 ||
		got.Inner != 3 || *got.BelayCode != 75 || got.ExitCode != 1 || got.Session != "s1" {
		t.Errorf("%+v", got)
	}
	runs, err := d.Runs.Invocations(ctx, record.Filter{})
	if err != nil || len(runs) != 1 || *runs[0].BelayCode != 75 || runs[0].ExitCode != 1 || runs[0].Inner != 4 || runs[0].Parent != want.Parent || runs[0].Trace != want.Traceparent {
		t.Errorf("%+v, %v", runs, err)
	}
}

// The cost of a run is known if that of all its attempts is; statistics add up what is known, and count the others.
func TestRecord_UnknownCosts(t *testing.T) {
	w := newWorld(t)
	attempt := func(n, attempt int, status journal.Status, u verdict.Usage) journal.Entry {
		e := run(n)
		e.Session, e.Attempt, e.Status, e.Usage = fmt.Sprint("s", n), attempt, status, u.JSON()
		e.Timestamp.Time = e.Timestamp.Add(time.Duration(attempt) * time.Second)
		return e
	}
	costs := func(usd float64, settles int) verdict.Usage {
		return verdict.Usage{InputTokens: 10, CostUSD: &usd, Settles: settles}
	}
	untold, cut, nothing := verdict.Usage{InputTokens: 100}, verdict.Usage{Unknown: true}, verdict.Usage{}
	entries := []journal.Entry{
		attempt(1, 1, journal.Retry, untold), attempt(1, 2, journal.Success, costs(0.0008, 0)),
		attempt(2, 1, journal.Retry, untold), attempt(2, 2, journal.Success, costs(0.0016, 1)),
		attempt(3, 1, journal.Retry, cut), attempt(3, 2, journal.Success, costs(0.0008, 0)),
		attempt(4, 1, journal.Retry, nothing), attempt(4, 2, journal.Success, costs(0.0008, 0)),
	}
	w.append(entries[:3]...)
	d, _ := w.fold()
	w.append(entries[3:]...) // what is folded later adds up alike
	if _, err := d.Fold(ctx); err != nil {
		t.Fatal(err)
	}
	runs, err := d.Runs.Invocations(ctx, record.Filter{})
	sessions, err2 := d.Sessions.List(ctx, record.Filter{}, "")
	if err != nil || err2 != nil || len(runs) != 4 || len(sessions) != 4 {
		t.Fatalf("%v, %v, %d, %d", err, err2, len(runs), len(sessions))
	}
	for i, want := range []string{"null", "0.0016", "null", "0.0008"} {
		for what, u := range map[string]verdict.Usage{"run": runs[i].Usage, "session": sessions[i].Usage} {
			if got, _ := json.Marshal(u.Rounded().CostUSD); string(got) != want || u.Unknown != (i == 2) {
				t.Errorf("%s %d: cost %s, unknown %v; want %s", what, i+1, got, u.Unknown, want)
			}
		}
	}
	_, total, err := d.Stats.Groups(ctx, record.Filter{}, record.ByProfile, time.UTC)
	if got, _ := json.Marshal(total.Usage.Rounded().CostUSD); err != nil || string(got) != "0.004" || total.UnknownCosts != 2 || total.UnknownUsage != 1 {
		t.Errorf("%s, %+v, %v", got, total, err)
	}
	// The same from the rows, where a time cuts a quarter of an hour.
	_, part, err := d.Stats.Groups(ctx, record.Filter{Since: t0.Add(time.Second), Until: t0.Add(14 * time.Minute)}, record.ByProfile, time.UTC)
	if err != nil || part.UnknownCosts != 2 || part.UnknownUsage != 1 || *part.Usage.Rounded().CostUSD != 0.004 {
		t.Errorf("%+v, %v", part, err)
	}
}

// A session that a retry has left is abandoned, whenever its lines are folded; one that goes on is not.
func TestSessions_Abandoned(t *testing.T) {
	attempt := func(n, attempt int, session string, status journal.Status) journal.Entry {
		e := run(n)
		e.Session, e.Attempt, e.Status = session, attempt, status
		e.Timestamp.Time = e.Timestamp.Add(time.Duration(attempt) * time.Second)
		if e.Attempt == 0 {
			e.Timestamp.Time = e.Timestamp.Add(time.Minute)
		}
		if status != journal.Success {
			e.ErrorType = verdict.Stalled
		}
		return e
	}
	lines := []journal.Entry{
		attempt(1, 1, "left", journal.Retry), attempt(1, 2, "next", journal.Success),
		attempt(2, 1, "same", journal.Retry), attempt(2, 2, "same", journal.Success),
		attempt(3, 1, "lost", journal.Retry), attempt(3, 2, "", journal.Error),
		attempt(4, 1, "stopped", journal.Retry), attempt(4, 0, "stopped", journal.Error),
		attempt(5, 1, "under way", journal.Retry),
		attempt(6, 1, "left twice", journal.Retry), attempt(6, 2, "left again", journal.Retry), attempt(6, 3, "last", journal.Success),
		attempt(7, 1, "picked up", journal.Retry), attempt(7, 2, "another", journal.Success), attempt(8, 1, "picked up", journal.Success),
	}
	const want = "another|done|1\nlast|done|1\nleft again|abandoned|1\nleft twice|abandoned|1\nleft|abandoned|1\nlost|abandoned|1\n" +
		"next|done|1\npicked up|done|2\nsame|done|1\nstopped|failed|1\nunder way|running|1"
	for _, each := range []int{1, 2, 3, len(lines)} {
		w := newWorld(t)
		d := w.open()
		for i := 0; i < len(lines); i += each {
			w.append(lines[i:min(i+each, len(lines))]...)
			if _, err := d.Fold(ctx); err != nil {
				t.Fatal(err)
			}
		}
		list, err := d.Sessions.List(ctx, record.Filter{}, "")
		must.OK(t, err)
		var got []string
		for _, s := range list {
			got = append(got, fmt.Sprintf("%s|%s|%d", s.ID, s.Status, s.Invocations))
		}
		if slices.Sort(got); strings.Join(got, "\n") != want {
			t.Errorf("%d at a time:\n%s\nwant:\n%s", each, strings.Join(got, "\n"), want)
		}
	}
}
