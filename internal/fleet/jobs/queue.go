package jobs

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/belay-run/belay/internal/fleet/store"
)

// start has River fetch jobs. While PostgreSQL is away, it waits.
func (w *Worker) start(ctx context.Context) error {
	workers := river.NewWorkers()
	river.AddWorker(workers, &riverWorker{worker: w})
	w.queues[queueAll] = true
	queues := map[string]river.QueueConfig{}
	for name := range w.queues {
		queues[name] = river.QueueConfig{MaxWorkers: w.Count}
	}
	config := &river.Config{Schema: store.Schema, Queues: queues, Workers: workers, JobTimeout: -1, Logger: slog.New(slog.DiscardHandler), ID: w.Machine + "-" + time.Now().UTC().Format("20060102150405.000000"),
		FetchCooldown: 10 * time.Millisecond, FetchPollInterval: pollEvery, CompletedJobRetentionPeriod: time.Hour}
	for failures := 1; ; failures++ {
		client, err := river.NewClient(&driver{riverpgxv5.New(w.Store.Pool), w.look}, config)
		if err != nil {
			return err
		}
		// River's own context lasts: an end of ctx is told to each job by itself.
		if err = client.Start(context.WithoutCancel(ctx)); err == nil {
			w.queue = client
			w.addQueues(ctx) // those that are missing are added later, as new ones are
			return nil
		}
		if failures > 1 {
			w.claimer.away(w.Store.Trouble(err))
		}
		if !pause(ctx, failures) {
			return ctx.Err()
		}
	}
}

// addQueues listens to further queues: those of jobs whose needs this machine meets, and of jobs that other machines have refused.
func (w *Worker) addQueues(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	rows, _ := w.Store.Pool.Query(ctx, `select distinct needs, refused from belay.job where state = 'ready' and (needs <> '{}' or refused <> '{}') and needs <@ $1 and not $2 = any(refused)`,
		append([]string{}, w.Labels...), w.Machine)
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (name string, err error) {
		var needs, refused []string
		err = row.Scan(&needs, &refused)
		return queueOf(needs, refused), err
	})
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range list {
		if w.queues[name] || w.drained {
			continue
		}
		if err := w.queue.Queues().Add(name, river.QueueConfig{MaxWorkers: w.Count}); err != nil {
			return err
		}
		w.queues[name] = true
	}
	return nil
}

// riverWorker is what River calls.
type riverWorker struct {
	river.WorkerDefaults[reference]
	worker *Worker
}

const (
	// slotWait is how long a job may wait for a free worker before it goes back into the queue for others. It happens to machines with labels,
	// which listen to several queues.
	slotWait = time.Second
	// refusedAgainAfter is how long a job that this machine has refused is left to other machines.
	refusedAgainAfter = 2 * time.Second
)

// Work implements [river.Worker].
func (r *riverWorker) Work(ctx context.Context, job *river.Job[reference]) error {
	w := r.worker
	select {
	case w.slots <- struct{}{}:
	case <-time.After(slotWait):
		return river.JobSnooze(slotWait)
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-w.slots }()
	got, ok := w.claimer.claim(ctx, fence{job.Args.Job, job.Args.Attempt}, job.ID)
	switch {
	case !ok:
		return ctx.Err()
	case got.refused:
		return river.JobSnooze(refusedAgainAfter)
	case !got.taken:
		return nil // it is over, was withdrawn, or has another attempt
	}
	w.work(ctx, got.claimed)
	return nil
}

// Any role that can connect to a database can notify any channel of it. River believes what its notes say: one cancels a job, one pauses a queue, one has the leader resign. So
// River hears only that there are jobs, upon which it looks at its table. A note about anything else has the worker look at its rows, which say what was cancelled.

// insertTopic and controlTopic are River's names for the notes that say that there are jobs, and what is to be done with some.
const insertTopic, controlTopic = "river_insert", "river_control"

// lookPause is how long the worker does not look again after it has looked: many notes are one look.
const lookPause = 100 * time.Millisecond

// driver is River's, with a listener that passes on only what says that there are jobs.
type driver struct {
	*riverpgxv5.Driver
	look func() // has the worker look at its rows
}

// GetListener implements [riverdriver.Driver].
func (d *driver) GetListener(params *riverdriver.GetListenenerParams) riverdriver.Listener {
	return &listener{d.Driver.GetListener(params), d.look}
}

type listener struct {
	riverdriver.Listener
	look func()
}

// Listen implements [riverdriver.Listener]. Who leads is looked up in the table every few seconds, also without a note.
func (l *listener) Listen(ctx context.Context, topic string) error {
	if topic != insertTopic && topic != controlTopic {
		return nil
	}
	return l.Listener.Listen(ctx, topic)
}

// WaitForNotification implements [riverdriver.Listener].
func (l *listener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	for {
		note, err := l.Listener.WaitForNotification(ctx)
		if err != nil || note.Topic == insertTopic {
			return note, err
		}
		l.look()
	}
}

// ticks passes on the ticks of a clock, and one when rows are to be looked at: at most one in lookPause.
func ticks(ctx context.Context, clock <-chan time.Time, looks <-chan struct{}) <-chan time.Time {
	out := make(chan time.Time)
	go func() {
		for {
			var now time.Time
			select {
			case now = <-clock:
			case <-looks:
			case <-ctx.Done():
				return
			}
			select {
			case out <- now:
			case <-ctx.Done():
				return
			}
			select {
			case <-time.After(lookPause):
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}
