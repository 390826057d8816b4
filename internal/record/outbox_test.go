package record_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// traced makes the lines of a run that is to be sent.
func traced(lines ...journal.Entry) []journal.Entry {
	for i := range lines {
		lines[i].Telemetry, lines[i].Provider = new(true), "anthropic"
	}
	return lines
}

func TestOutbox_HasRunsThatHaveEnded(t *testing.T) {
	w := newWorld(t)
	again := failed(run(2), journal.Retry, verdict.ServerError, "500")
	done := run(2)
	done.Attempt, done.Timestamp.Time = 2, again.Timestamp.Add(time.Second)
	off := run(3)
	off.Telemetry = new(false)
	w.append(traced(run(1))...)
	w.append(off, run(4))
	w.append(traced(again)...)
	d, _ := w.fold()
	list, err := d.Outbox.Unsent(ctx, 10)
	if err != nil || len(list) != 1 || list[0].ID != "run-000001" || list[0].Provider != "anthropic" || len(list[0].Attempts) != 1 {
		t.Fatalf("%+v %v", list, err)
	}
	w.append(traced(done)...)
	d, _ = w.fold()
	list, err = d.Outbox.Unsent(ctx, 10)
	if err != nil || len(list) != 2 || len(list[1].Attempts) != 2 || list[1].Attempts[0].Attempt != 1 {
		t.Fatalf("%+v %v", list, err)
	}
	must.OK(t, d.Outbox.Begin(ctx))
	must.OK(t, d.Outbox.Sent(ctx, list[:1], 3))
	w.fold() // what was sent does not come back
	e, err := d.Outbox.Exporter(ctx)
	if err != nil || e.Waiting != 1 || e.Sent != 1 || e.Rejected != 3 || e.LastSent == nil || len(e.Instance) != 32 {
		t.Errorf("%+v %v", e, err)
	}
	if n, err := d.Outbox.Clear(ctx); n != 1 || err != nil {
		t.Errorf("%d %v", n, err)
	}
}

// A run that prune removes is not sent any more.
func TestOutbox_Pruned(t *testing.T) {
	w := newWorld(t)
	w.append(traced(run(1), run(2))...)
	d, _ := w.fold()
	if _, err := d.Prune(ctx, run(2).Timestamp.Time, false); err != nil {
		t.Fatal(err)
	}
	w.expect("run-000002", "SELECT invocation FROM outbox")
}

func TestOutbox_Trouble(t *testing.T) {
	d, _ := newWorld(t).fold()
	if e, err := d.Outbox.Exporter(ctx); err != nil || e.Instance != "" || e.Waiting != 0 {
		t.Errorf("%+v %v", e, err)
	}
	for range 2 {
		must.OK(t, d.Outbox.Begin(ctx))
	}
	for _, trouble := range []error{errors.New("refused"), nil} {
		must.OK(t, d.Outbox.Note(ctx, trouble))
		e, err := d.Outbox.Exporter(ctx)
		if err != nil || (e.Trouble == "refused") != (trouble != nil) || (e.Troubled == nil) != (trouble == nil) {
			t.Errorf("%+v %v", e, err)
		}
	}
}

// Of many that want to send, one does so at a time, and what was there before any of them began is sent by one that began later.
func TestOutbox_ExportAlone(t *testing.T) {
	w := newWorld(t)
	var wrote, sent, now, most, ran atomic.Int64
	var all sync.WaitGroup
	for range 20 {
		d := w.open()
		all.Go(func() {
			for range 5 {
				mine := wrote.Add(1)
				did, err := d.Outbox.Alone(t.Context(), func() error {
					if n := now.Add(1); n > most.Load() {
						most.Store(n)
					}
					seen := wrote.Load()
					time.Sleep(time.Millisecond)
					sent.Store(seen)
					now.Add(-1)
					return nil
				})
				if did {
					ran.Add(1)
					if sent.Load() < mine {
						t.Errorf("%d was not sent", mine)
					}
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if fmt.Sprint(most.Load(), sent.Load()) != "1 100" {
		t.Errorf("%d at a time, %d sent by %d", most.Load(), sent.Load(), ran.Load())
	}
}

// A turn is waited for only as long as the caller wants: one whose receiver is dead keeps it for a minute.
func TestOutbox_ExportAloneEnds(t *testing.T) {
	w := newWorld(t)
	one, two := w.open(), w.open()
	ran, err := one.Outbox.Alone(t.Context(), func() error {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 2 { // the second is not kept out by what the first has left behind
			if ran, err := two.Outbox.Alone(ctx, func() error { return nil }); ran || !errors.Is(err, context.Canceled) {
				t.Error(ran, err)
			}
		}
		return nil
	})
	if !ran || err != nil {
		t.Error(ran, err)
	}
	if ran, err := two.Outbox.Alone(t.Context(), func() error { return nil }); !ran || err != nil {
		t.Error(ran, err)
	}
}
