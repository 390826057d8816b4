package record_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// meterSums are the meters of a record, added up.
func meterSums(t testing.TB, d *record.DB) (sum record.Meter, since time.Time) {
	t.Helper()
	list, since, err := d.Stats.Meters(ctx)
	must.OK(t, err)
	for _, m := range list {
		sum.Add(m.Figures)
		for i := range m.Durations {
			sum.InputSizes[i] += m.InputSizes[i]
			sum.OutputSizes[i] += m.OutputSizes[i]
			sum.Durations[i] += m.Durations[i]
		}
	}
	return sum, since
}

func TestMeters_CountEveryLineOnce(t *testing.T) {
	w := newWorld(t)
	w.append(story()...)
	d, _ := w.fold()
	sum, since := meterSums(t, d)
	if sum.Attempts != 6 || sum.Refused != 2 || sum.Invocations != 5 || sum.Faults != 2 || sum.WaitMS != 6500 || sum.GateWaitMS != 500 || sum.Usage.InputTokens != 600 || sum.Usage.OutputTokens != 60 || sum.Requests != 4 {
		t.Errorf("%+v", sum)
	}
	if sum.Durations.Total() != 5 || sum.InputSizes.Total() != 6 || sum.OutputSizes.Total() != 6 {
		t.Errorf("%+v", sum)
	}
	if want := t0.Add(time.Minute - 2*time.Second); !since.Equal(want) {
		t.Errorf("since %s, not %s", since, want)
	}
	w.expect("claude|network|11000\nclaude|ok|2500", "SELECT profile, class, sum(took_ms) FROM meters WHERE ended > 0 AND attempts > 0 AND class IN ('network', 'ok') GROUP BY 1, 2")
	if _, err := d.Prune(ctx, t0.Add(24*time.Hour), false); err != nil {
		t.Fatal(err)
	}
	if after, _ := meterSums(t, d); !reflect.DeepEqual(after, sum) {
		t.Errorf("prune has made %+v of %+v", after, sum)
	}
}

// A run that is folded a line at a time adds up to the same as one that is folded at once.
func TestMeters_LineByLine(t *testing.T) {
	whole, bit := newWorld(t), newWorld(t)
	whole.append(story()...)
	a, _ := whole.fold()
	for _, e := range story() {
		bit.append(e)
		bit.fold()
	}
	for _, table := range []string{"meters", "spreads", "metered"} {
		if one, other := whole.query("SELECT * FROM "+table), bit.query("SELECT * FROM "+table); one != other {
			t.Errorf("%s\n%s\nline by line\n%s", table, one, other)
		}
	}
	if sum, _ := meterSums(t, a); sum.WaitMS != 6500 {
		t.Errorf("%+v", sum)
	}
}

// Buckets hold values up to their bound.
func TestMeters_Buckets(t *testing.T) {
	w := newWorld(t)
	for i, tokens := range []int64{1, 2, 4, 5, 67108864, 67108865} {
		e := run(i)
		e.Usage, e.ResponseTime = usage(tokens, 1, 0), []float64{0, 0.01, 0.011, 81.92, 81.93, 4000}[i]
		w.append(e)
	}
	none := run(7)
	none.Usage = nil
	w.append(none)
	d, _ := w.fold()
	sum, _ := meterSums(t, d)
	if got, want := fmt.Sprint(sum.InputSizes), "[1 2 1 0 0 0 0 0 0 0 0 0 0 1 1]"; got != want {
		t.Errorf("tokens %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(sum.Durations), "[2 1 0 0 0 0 0 0 1 0 0 0 0 1 2]"; got != want {
		t.Errorf("durations %s, want %s", got, want)
	}
}

// A record of an earlier version is counted as one that was made today.
func TestMeters_OfOlderRecord(t *testing.T) {
	lines := story()
	inner := failed(run(20), journal.Retry, verdict.Overloaded, "529")
	inner.WaitTime, inner.InnerWait, inner.InnerRetries = 3, 1, 2
	again := run(20)
	again.Attempt, again.Timestamp.Time = 2, inner.Timestamp.Add(4*time.Second)
	lines = append(lines, inner, again)
	fresh := newWorld(t)
	fresh.append(lines...)
	fresh.fold()

	old := newWorld(t)
	old.append(lines...)
	restore := record.Schema(8)
	d, err := record.Open(old.dir)
	restore()
	must.OK(t, err)
	d.Close()
	old.exec("DELETE FROM logs")
	// A belay of schema 8 would have folded without meters; what this one has made of the log is left, and the tables are made again.
	old.fold()
	old.exec(withoutMachines + "DROP TABLE meters; DROP TABLE spreads; DROP TABLE metered; DROP TABLE label_rollup; DROP TABLE first_tokens; DROP INDEX invocations_fallback; DROP TABLE outbox; DROP TABLE exporter; PRAGMA user_version = 8")
	old.open()
	for _, table := range []string{"meters", "spreads", "metered"} {
		if one, other := fresh.query("SELECT * FROM "+table), old.query("SELECT * FROM "+table); one != other {
			t.Errorf("%s\n%s\nmigrated\n%s", table, one, other)
		}
	}
}
