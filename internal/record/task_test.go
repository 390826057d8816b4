package record_test

import (
	"testing"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/verdict"
)

// task makes an entry that of a task.
func task(e journal.Entry, batch, id string, line int) journal.Entry {
	e.Batch, e.Task, e.Line = batch, id, line
	return e
}

// The tasks of a batch are found by its results, in runs, sums, events and alerts; a record from before there were any is shown as it was.
func TestTasks(t *testing.T) {
	w := newWorld(t)
	w.append(run(0))
	w.fold()
	before := w.query("SELECT id, started, timestamp, status, class, cost_usd FROM invocations")
	w.exec(withoutChecks + "DROP INDEX invocations_batch; ALTER TABLE invocations DROP COLUMN batch; ALTER TABLE invocations DROP COLUMN task; ALTER TABLE invocations DROP COLUMN line;" +
		"ALTER TABLE alerts DROP COLUMN batch; ALTER TABLE alerts DROP COLUMN task; ALTER TABLE alerts DROP COLUMN line; PRAGMA user_version = 12")
	w.append(task(run(1), "/w/a.jsonl", "q1", 1), task(failed(run(2), journal.Error, verdict.Network, "reset"), "/w/a.jsonl", "q2", 2), task(run(3), "/w/b.jsonl", "q1", 0),
		task(journal.Entry{Timestamp: run(2).Timestamp, Kind: journal.Alert, Event: "raised", Profile: "claude", Invocation: run(2).Invocation, Status: journal.Success}, "/w/a.jsonl", "q2", 2))
	d, _ := w.fold()
	w.expect(before, "SELECT id, started, timestamp, status, class, cost_usd FROM invocations WHERE id = 'run-000000' AND batch IS NULL AND task IS NULL AND line IS NULL")

	list, err := d.Runs.Invocations(ctx, record.Filter{Batch: "/w/a.jsonl"})
	if err != nil || len(list) != 2 || list[1].Task != (record.Task{Batch: "/w/a.jsonl", Task: "q2", Line: 2}) {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err := d.Runs.Invocations(ctx, record.Filter{Batch: "/w/none.jsonl"}); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err := d.Runs.Invocations(ctx, record.Filter{Invocation: "run-000000"}); err != nil || len(list) != 1 || list[0].Task != (record.Task{}) {
		t.Errorf("%+v, %v", list, err)
	}
	if alerts, err := d.Alerts.List(ctx, record.Filter{}); err != nil || len(alerts) != 1 || alerts[0].Task != list[1].Task {
		t.Errorf("%+v, %v", alerts, err)
	}
	w.expect("/w/a.jsonl|q2|2", "SELECT json_extract(metadata, '$.batch'), json_extract(metadata, '$.task'), json_extract(metadata, '$.line') FROM events")
	stats, _, err := d.Stats.Groups(ctx, record.Filter{Batch: "/w/a.jsonl"}, record.ByClass, time.UTC)
	if err != nil || len(stats) != 2 {
		t.Errorf("%+v, %v", stats, err)
	}
}
