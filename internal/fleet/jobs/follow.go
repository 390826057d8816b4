package jobs

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/message"
)

const (
	// lookEvery is how often the submitter is told what machines work on. It also finds results whose notification was missed.
	lookEvery = 2 * time.Second
	// forgetAfter is how long a result stays in PostgreSQL after it was written down, so that by then it is on the submitter's disk.
	forgetAfter = 3 * time.Second
	// resultsAtOnce is how many results are fetched at a time.
	resultsAtOnce = 200
	// touchEvery is how often the submitter says that it is still there, so that its jobs are kept.
	touchEvery = time.Minute
)

// follower serves one submitter.
type follower struct {
	client *Client
	out    *json.Encoder
	flush  *bufio.Writer
	news   chan struct{} // there may be results

	tasks    []*fleetpipe.Task   // to be submitted
	texts    []*fleetpipe.Result // results whose texts are being fetched, the first one now
	part     int                 // its next part
	picks    map[fleetpipe.Pick]picked
	except   []string            // is not packed
	began    bool                // tasks were submitted
	expected map[taskKey]bool    // tasks that were, and have no result yet
	seen     map[int64]passed    // results that were passed on
	taken    map[int64]time.Time // that were written down
	touched  time.Time           // when the batch was last touched
	stopping bool                // jobs are withdrawn as they come back
	cancels  bool
	away     bool
	failures int
	came     bool  // a result has come since the jobs were last compared with the tasks
	lost     error // once jobs are missing
	looks    int
	waiting  map[string]bool // needs that no machine has, as far as was said
}

// taskKey is what a task is known by in the fleet. One that has changed since an earlier start of the batch is another one.
type taskKey struct{ ID, Hash string }

// passed is a result that was passed on. The row of a task that runs again has the next attempt.
type passed struct {
	task    taskKey
	attempt int
}

// Follow carries orders to the fleet and reports back, until orders end. If they end because the submitter was killed, its jobs continue.
func Follow(ctx context.Context, client *Client, orders io.Reader, reports io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer client.packages.remove()
	flush := bufio.NewWriter(reports)
	f := &follower{client: client, flush: flush, out: json.NewEncoder(flush), news: make(chan struct{}, 1), picks: map[fleetpipe.Pick]picked{}, expected: map[taskKey]bool{}, seen: map[int64]passed{}, taken: map[int64]time.Time{}}
	incoming, broken := make(chan fleetpipe.Order), make(chan error, 1)
	go func() {
		in := json.NewDecoder(bufio.NewReaderSize(orders, 1<<20))
		for {
			var o fleetpipe.Order
			if err := in.Decode(&o); err != nil {
				broken <- err
				return
			}
			select {
			case incoming <- o:
			case <-ctx.Done():
				return
			}
		}
	}()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	listening := false
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-broken:
			f.forget(ctx, true)
			if client.Batch != "" {
				client.DropArchives(ctx) // or a worker does
			}
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		case o := <-incoming:
			if o.Batch != "" {
				client.Batch, f.except = o.Batch, o.Except
				if !listening {
					listening = true
					go f.listen(ctx)
				}
				continue
			}
			if err := f.obey(ctx, o); err != nil {
				return err
			}
		case <-f.news:
			f.results(ctx)
		case <-look.C:
			f.look(ctx)
			if f.lost != nil {
				f.out.Encode(fleetpipe.Report{Failed: f.lost.Error()})
				f.flush.Flush()
				return f.lost
			}
		}
		if err := flush.Flush(); err != nil {
			return err
		}
	}
}

// listen signals news when there may be results.
func (f *follower) listen(ctx context.Context) {
	var conn *pgx.Conn
	failures := 0
	for ctx.Err() == nil {
		if err := f.client.Wait(ctx, &conn, time.Minute); err != nil {
			failures++
			pause(ctx, failures)
			continue
		}
		failures = 0
		f.lookSoon()
	}
	if conn != nil {
		conn.Close(context.WithoutCancel(ctx))
	}
}

// obey carries out an order. An error ends the batch.
func (f *follower) obey(ctx context.Context, o fleetpipe.Order) error {
	switch {
	case o.Task != nil:
		f.tasks = append(f.tasks, o.Task)
	case o.Submit:
		if err := f.pick(ctx); err != nil {
			f.tasks = nil
			f.out.Encode(fleetpipe.Report{Refused: err.Error()})
			return ctx.Err()
		}
		for {
			// A result that was written down goes first: a task that runs again has the same row.
			err := f.forget(ctx, true)
			if err == nil {
				err = f.client.Submit(ctx, f.tasks)
			}
			if f.tell(err) {
				break
			}
			if ctx.Err() != nil || permanent(err) {
				f.out.Encode(fleetpipe.Report{Failed: err.Error()})
				f.flush.Flush()
				return err
			}
			f.flush.Flush()
			if !pause(ctx, f.failures) {
				return ctx.Err()
			}
		}
		f.expect()
		for _, r := range f.texts { // they begin anew, unless their tasks do
			delete(f.seen, r.ID)
		}
		f.tasks, f.texts, f.part, f.began = nil, nil, 0, true
		f.out.Encode(fleetpipe.Report{Submitted: true})
		f.results(ctx)
	case len(o.Taken) > 0:
		for _, id := range o.Taken {
			f.taken[id] = time.Now()
		}
	case o.Withdraw || o.Cancel:
		f.stopping = true
		f.cancels = f.cancels || o.Cancel
		f.withdraw(ctx)
	}
	return nil
}

// expect notes that the tasks which were just submitted have no result yet. An earlier start of the batch may have submitted some of them: those whose
// result was passed on before this start came to submit anything have one.
func (f *follower) expect() {
	have := map[taskKey]bool{}
	for _, p := range f.seen {
		have[p.task] = true
	}
	for _, t := range f.tasks {
		if key := (taskKey{t.ID, t.Hash}); t.Again || !have[key] {
			f.expected[key] = true
		}
	}
}

// tell says once that PostgreSQL is away, and once that it is back. It reports whether there is no error.
func (f *follower) tell(err error) bool {
	if err == nil {
		if f.failures = 0; f.away {
			f.away = false
			f.out.Encode(fleetpipe.Report{Say: message.FleetJobsBack()})
		}
		return true
	}
	if f.failures++; f.failures > 1 && !f.away {
		f.away = true
		f.out.Encode(fleetpipe.Report{Say: fmt.Sprintf("%v. Jobs that machines work on continue; waiting until it is back", err)})
	}
	return false
}

// withdraw takes back what no machine works on, and stops the rest if that is wanted.
func (f *follower) withdraw(ctx context.Context) {
	list, err := f.client.Withdraw(ctx)
	if f.tell(err) && len(list) > 0 {
		f.reportWithdrawn(list)
	}
	if f.cancels {
		f.tell(f.client.Cancel(ctx))
	}
}

// look does what is due every lookEvery.
func (f *follower) look(ctx context.Context) {
	f.results(ctx)
	if f.stopping {
		f.withdraw(ctx)
	}
	if list, err := f.client.Running(ctx); f.tell(err) {
		f.out.Encode(fleetpipe.Report{Running: &list})
	}
	f.sayWaiting(ctx)
	if time.Since(f.touched) > touchEvery && f.client.Batch != "" && f.tell(f.client.Touch(ctx)) {
		f.touched = time.Now()
	}
	f.tell(f.forget(ctx, false))
	if f.looks%compareEvery == 1 {
		f.compare(ctx)
	}
}

// compareEvery is how often the submitter checks that all its jobs are still there, as a multiple of lookEvery. While results come in, that can wait.
const compareEvery = 5

// compare finds tasks that have neither a result nor a job. Where jobs are being withdrawn, the answer in which PostgreSQL named them was lost; else PostgreSQL
// has lost the jobs, because it was restored from an older copy.
func (f *follower) compare(ctx context.Context) {
	if f.came || len(f.expected) == 0 {
		f.came = false
		return
	}
	there, err := f.client.Tasks(ctx)
	if !f.tell(err) {
		return
	}
	gone := maps.Clone(f.expected)
	for _, key := range there {
		delete(gone, key)
	}
	switch {
	case len(gone) == 0:
	case f.stopping:
		f.reportWithdrawn(slices.Collect(maps.Keys(gone)))
	default:
		f.lost = message.Error(fmt.Sprintf("PostgreSQL has lost %s of this batch, as after a restore. Start the batch again: what is done stays done", message.Count(len(gone), "job")))
	}
}

// reportWithdrawn reports jobs that were withdrawn.
func (f *follower) reportWithdrawn(list []taskKey) {
	ids := make([]string, len(list))
	for i, key := range list {
		delete(f.expected, key)
		ids[i] = key.ID
	}
	f.out.Encode(fleetpipe.Report{Withdrawn: ids})
}

// lookSoon has results looked for.
func (f *follower) lookSoon() {
	select {
	case f.news <- struct{}{}:
	default: // that is so already
	}
}

// results passes on results that are there. If there may be more, they come when orders were read that have come meanwhile: large ones take their time.
func (f *follower) results(ctx context.Context) {
	list, err := f.client.Results(ctx, f.seen, resultsAtOnce)
	for i := range list {
		r := &list[i]
		key := taskKey{r.Task, r.Hash}
		f.seen[r.ID], f.came = passed{key, r.attempt}, true
		delete(f.expected, key) // it may be of an earlier start of the batch: the submitter knows whether it has written it down
		if r.Text != nil {
			f.texts = append(f.texts, &r.Result)
			continue
		}
		f.out.Encode(fleetpipe.Report{Result: &r.Result})
	}
	if f.tell(err) && len(list) > 0 {
		f.lookSoon()
	}
	f.passText(ctx)
}

// passText passes on the next part of a text, and after the last one the result. The rest comes when orders were read that have come meanwhile.
func (f *follower) passText(ctx context.Context) {
	if len(f.texts) == 0 {
		return
	}
	r := f.texts[0]
	if f.part < r.Text.Parts {
		data, err := f.client.part(ctx, r, f.part)
		if bad, ok := errors.AsType[*textError](err); ok {
			r.Outcome = fleetpipe.Outcome{Machine: r.Machine, Attempt: r.Attempt, Error: message.FleetResultUnreadable(bad)}
		} else if !f.tell(err) {
			return
		} else {
			f.out.Encode(fleetpipe.Report{Part: &fleetpipe.Part{ID: r.ID, Data: data}})
			f.part++
		}
	}
	if r.Text == nil || f.part >= r.Text.Parts {
		f.texts, f.part = f.texts[1:], 0
		f.out.Encode(fleetpipe.Report{Result: r})
	}
	f.lookSoon()
}

// forget deletes results that were written down: all, or those that have been for a while.
func (f *follower) forget(ctx context.Context, all bool) error {
	var ids []int64
	for id, at := range f.taken {
		if all || time.Since(at) > forgetAfter {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	if err := f.client.Taken(ctx, ids); err != nil {
		return err
	}
	for _, id := range ids {
		delete(f.taken, id)
		delete(f.seen, id)
	}
	return nil
}
