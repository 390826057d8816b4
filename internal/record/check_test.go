package record_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// checked is an attempt of a run whose work was checked.
func checked(n, attempt int, status journal.Status, check journal.Check) journal.Entry {
	e := run(n)
	e.Attempt, e.Status, e.Check, e.Name = attempt, status, &check, "nightly"
	e.Timestamp.Time = e.Timestamp.Add(time.Duration(attempt) * time.Second)
	e.PeakMemory, e.PeakTree = attempt<<20, attempt<<30*(n%2)
	if !check.Passed {
		e.ErrorType, e.Error = verdict.NotDone, "the check failed"
	}
	return e
}

// The check of each attempt is on record, and counted by run. A record of an earlier version gets room for it, and is then what one is that is made again from the log.
func TestChecks(t *testing.T) {
	old := newWorld(t)
	old.append(run(0))
	old.fold()
	old.exec(withoutChecks + "PRAGMA user_version = 14")
	failed, passed := journal.Check{ExitCode: 2, Time: 3.25}, journal.Check{Passed: true, Time: 1}
	second, mended := journal.Check{Round: 1, ExitCode: -1, Time: 600}, journal.Check{Round: 2, Passed: true, Time: 1}
	lines := []journal.Entry{
		checked(1, 1, journal.Success, passed),
		checked(2, 1, journal.Retry, failed), checked(2, 2, journal.Retry, second), checked(2, 3, journal.Success, mended),
		checked(3, 1, journal.Retry, failed), checked(3, 2, journal.Error, second),
		checked(4, 0, journal.Success, passed), // there was nothing to do
	}
	old.append(lines...)
	d, _ := old.fold()
	fresh := newWorld(t)
	fresh.append(append([]journal.Entry{run(0)}, lines...)...)
	fresh.fold()
	for _, table := range []string{"attempts", "invocations", "sessions", "rollup", "label_rollup", "meters", "events"} {
		old.expect(fresh.query("SELECT * FROM "+table), "SELECT * FROM "+table)
	}

	attempts, err := d.Runs.Attempts(ctx, record.Filter{})
	must.OK(t, err)
	if len(attempts) != 1+len(lines) || attempts[0].Check != nil {
		t.Fatalf("%+v", attempts)
	}
	for i, a := range attempts[1:] {
		if !reflect.DeepEqual(a.Check, lines[i].Check) || a.Memory != int64(max(lines[i].PeakMemory, lines[i].PeakTree)) {
			t.Errorf("%d: %+v, want %+v", i, a.Check, lines[i].Check)
		}
	}
	for _, by := range []record.Group{record.ByDay, record.ByName} {
		for _, f := range []record.Filter{{}, {Since: t0.Add(time.Second)}} { // of sums, and of rows
			_, total, err := d.Stats.Groups(ctx, f, by, time.UTC)
			if err != nil || total.DoneFirst != 1 || total.DoneLater != 1 || total.NotDone != 1 || total.Refused != 0 || total.PeakMemory != 2<<30 {
				t.Errorf("%s since %s: %+v, %v", by, f.Since, total, err)
			}
		}
	}
	old.expect("not_done", "SELECT json_extract(metadata, '$.error_type') FROM events") // only what has failed for good
}
