package record_test

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/verdict"
)

// Runs are found by a text that a person remembers of them, by their model and by their gate.
func TestSearch(t *testing.T) {
	w := newWorld(t)
	named := run(1)
	named.Name, named.Tags, named.Command = "Nightly", map[string]string{"team": "web"}, "deploy.sh"
	gated := failed(run(3), journal.Error, verdict.Network, "no route")
	gated.Gate, gated.Model = "api'; --", "sonnet"
	retried := failed(run(4), journal.Retry, verdict.Overloaded, "The first one was OVERLOADED")
	again := run(4)
	again.Attempt = 2
	w.append(run(0), named, task(failed(run(2), journal.Error, verdict.Network, `it said "50% done"`), "/w/a.jsonl", "Chapter-7", 3), gated, retried, again)
	d, _ := w.fold()
	for _, test := range []struct {
		filter record.Filter
		want   string
	}{
		{record.Filter{}, "4 3 2 1 0"},
		{record.Filter{Text: "RUN-000001"}, "1"},
		{record.Filter{Text: "Deploy"}, "1"},
		{record.Filter{Text: "nightly"}, "1"},
		{record.Filter{Text: "TEAM=web"}, "1"},
		{record.Filter{Text: "chapter-7"}, "2"},
		{record.Filter{Text: "line 3"}, "2"},
		{record.Filter{Text: "A.JSONL"}, "2"},
		{record.Filter{Text: "sonnet"}, "3"},
		{record.Filter{Text: "NO ROUTE"}, "3"},
		{record.Filter{Text: "overloaded"}, "4"}, // of an attempt that was not the last
		{record.Filter{Text: "50% done"}, "2"},
		{record.Filter{Text: `"50%`}, "2"},
		{record.Filter{Text: "5_% done"}, ""},
		{record.Filter{Text: "%"}, "2"},
		{record.Filter{Text: "' OR 1=1 --"}, ""},
		{record.Filter{Text: "no route", Class: record.Failed}, "3"},
		{record.Filter{Text: "no route", Class: "ok"}, ""},
		{record.Filter{Text: "run-", Profile: "claude", Since: run(3).Timestamp.Time}, "4 3"},
		{record.Filter{Model: "sonnet"}, "3"},
		{record.Filter{Model: "Sonnet"}, ""},
		{record.Filter{Model: "sonn"}, ""},
		{record.Filter{Gate: "api'; --"}, "3"},
		{record.Filter{Gate: "api"}, ""},
	} {
		test.filter.Limit = 10
		list, err := d.Runs.Recent(ctx, test.filter)
		if err != nil {
			t.Fatal(err)
		}
		if got := ends(list); got != test.want {
			t.Errorf("%+v: %q, want %q", test.filter, got, test.want)
		}
	}
}

// Runs come in the order that is asked for; of those that are alike the newest comes first, and what is not known comes last.
func TestSearch_Order(t *testing.T) {
	w := newWorld(t)
	slow, dear, free := run(1), run(2), run(3)
	slow.ResponseTime = 60
	dear.Usage = usage(1000, 10, 2)
	free.Usage = verdict.Usage{InputTokens: 1}.JSON() // of which the cost is not known
	w.append(run(0), slow, dear, free)
	d, _ := w.fold()
	for order, want := range map[string]string{
		"": "3 2 1 0", "-ended": "0 1 2 3", "took": "1 3 2 0", "-took": "3 2 0 1", "cost": "2 1 0 3", "-cost": "1 0 2 3", "tokens": "2 1 0 3",
		"i.id; DROP TABLE invocations": "3 2 1 0", "nothing": "3 2 1 0",
	} {
		list, err := d.Runs.Recent(ctx, record.Filter{Order: order, Limit: 10})
		if got := ends(list); err != nil || got != want {
			t.Errorf("%s: %q, want %q, %v", order, got, want, err)
		}
		if list, err = d.Runs.Recent(ctx, record.Filter{Order: order, Limit: 2}); err != nil || ends(list) != want[:3] {
			t.Errorf("%s: the first two are %q, want %q, %v", order, ends(list), want[:3], err)
		}
	}
}

// ends are the last digits of the ids of runs.
func ends(list []record.Invocation) string {
	var ids []string
	for _, run := range list {
		ids = append(ids, run.ID[len(run.ID)-1:])
	}
	return strings.Join(ids, " ")
}
