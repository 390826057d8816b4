package jobs

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"

	"github.com/belay-run/belay/internal/fleet/files"
	"github.com/belay-run/belay/internal/fleet/member"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/jackc/pgx/v5"
)

// Worker works on jobs of the fleet, on one machine.
type Worker struct {
	Store   *store.Store
	Machine string
	Labels  []string
	// Count is how many jobs it works on at a time.
	Count int
	Key   *Key
	Allow Allow
	// Dir has what the jobs of this machine need: what they are given, and results that PostgreSQL has not got yet.
	Dir string
	// Cache has the repositories that jobs work on.
	Cache *files.Cache
	// Belay is the executable that runs a job.
	Belay string
	// Runs has a record of each run of this machine.
	Runs supervise.Records
	// Say tells the user of this machine something.
	Say func(string)

	archives   archiveCache
	submitters Submitters
	finished   finished
	spares     spares
	tidied     time.Time

	claimer   *batcher // takes jobs and renews leases
	reporter  *batcher // reports
	slots     chan struct{}
	fetching  chan struct{} // see payload
	queue     *river.Client[pgx.Tx]
	own       sync.WaitGroup // jobs that are worked on without River
	delivered sync.WaitGroup // has results that are under way
	pending   chan struct{}  // one for each of these
	looks     chan struct{}  // has one if rows are to be looked at

	mu      sync.Mutex
	held    map[fence]*attempt
	queues  map[string]bool
	drained bool
}

// Run works until ctx ends, and then hands over what is not finished. Between the end of drain and that of ctx it takes no more jobs and finishes those that
// it has; it returns when there are none.
func (w *Worker) Run(ctx context.Context, drain <-chan struct{}) error {
	w.held, w.queues, w.slots = map[fence]*attempt{}, map[string]bool{}, make(chan struct{}, w.Count)
	w.pending, w.fetching, w.looks = make(chan struct{}, w.Count), make(chan struct{}, 1), make(chan struct{}, 1)
	pool, err := w.pool(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	durable := w.Store
	w.Store = &store.Store{Pool: pool, Address: w.Store.Address}
	w.claimer = newBatcher(w.Store, w.Machine, w.away())
	w.reporter = newBatcher(durable, w.Machine, w.refusal())
	// The batcher outlives ctx by as long as it takes to hand over.
	batchingCtx, endBatching := context.WithCancel(context.WithoutCancel(ctx))
	defer endBatching()
	renewals := time.NewTicker(paced(renewEvery))
	defer renewals.Stop()
	var group sync.WaitGroup
	group.Go(func() { w.claimer.run(batchingCtx, ticks(batchingCtx, renewals.C, w.looks), w.renew) })
	group.Go(func() { w.reporter.run(batchingCtx, nil, func(context.Context) error { return nil }) })
	defer group.Wait()
	defer endBatching()
	if w.Cache != nil {
		w.Cache.Sweep()
	}
	w.submitters = Submitters{Store: w.Store, Key: w.Key, Path: filepath.Join(filepath.Dir(w.Dir), SubmittersFile)}
	w.finished.open(filepath.Join(filepath.Dir(w.Dir), "finished"))
	w.archives.dir = filepath.Join(filepath.Dir(w.Dir), "archives")
	w.archives.clear()
	defer w.archives.clear()
	w.spares.most = 2 * w.Count
	left, err := w.takeUp(ctx)
	if err == nil {
		w.workOwn(ctx, left)
		err = w.start(ctx)
	}
	if err == nil {
		reaping, endReaping := context.WithCancel(ctx)
		defer endReaping()
		group.Go(func() { w.reap(reaping) })
		w.workUntil(ctx, drain)
	}
	w.leave(ctx)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// look has the worker look at the rows of its jobs soon.
func (w *Worker) look() {
	select {
	case w.looks <- struct{}{}:
	default: // that is so already
	}
}

// workUntil works until ctx ends, or drain and the jobs that this machine has do.
func (w *Worker) workUntil(ctx context.Context, drain <-chan struct{}) {
	select {
	case <-ctx.Done():
		return
	case <-drain:
	}
	w.mu.Lock()
	w.drained = true
	w.mu.Unlock()
	w.queue.Stop(ctx)
	await(ctx, &w.own)
}

// leave stops the jobs that are still running and hands them over.
func (w *Worker) leave(ctx context.Context) {
	w.observe()
	w.mu.Lock()
	for _, a := range w.held {
		a.cancel(errLeaving)
	}
	w.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	stopping, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	if w.queue != nil {
		if err := w.queue.Stop(stopping); err != nil {
			w.queue.StopAndCancel(stopping)
		}
	}
	await(stopping, &w.own)
	await(stopping, &w.delivered)
	w.spares.clear()
	bye, cancelBye := context.WithTimeout(ctx, 2*time.Second)
	defer cancelBye()
	w.Store.Pool.Exec(bye, "delete from belay.worker where machine = $1", w.Machine)
}

// pool makes the connections of the worker: River's, and one for the batcher. Their commits do not wait for PostgreSQL's disk. If PostgreSQL crashes and forgets who works
// on what, renew and reapOnce put that right; results go by other connections.
func (w *Worker) pool(ctx context.Context) (*pgxpool.Pool, error) {
	config := w.Store.Pool.Config().Copy()
	config.MaxConns = 4
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "set synchronous_commit = off")
		return err
	}
	return pgxpool.NewWithConfig(ctx, config)
}

// refusal says once why PostgreSQL refuses a result, as to a role that may not write to a table. That it is away is said by the batcher that takes jobs.
func (w *Worker) refusal() func(error) {
	var said string
	return func(err error) {
		if err == nil || !permanent(err) {
			return
		}
		if text := w.Store.Trouble(err).Error(); text != said {
			said = text
			w.Say(text)
		}
	}
}

// away says once that PostgreSQL is away, and once that it is back.
func (w *Worker) away() func(error) {
	var mu sync.Mutex
	isAway := false
	return func(err error) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil && !isAway:
			w.Say(fmt.Sprintf("%v. Running jobs continue, and no new ones are taken until it is back", w.Store.Trouble(err)))
		case err == nil && isAway:
			w.Say(message.FleetJobsBack())
		}
		isAway = err != nil
	}
}

// RunAs works on jobs while m is a member of the fleet, and carries m. It ends as m does.
func (w *Worker) RunAs(ctx context.Context, m *member.Member) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	joined, draining, worked := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	m.Joined, m.Draining = func() { close(joined) }, func() { close(draining) }
	go func() {
		select {
		case <-joined:
			worked <- w.Run(ctx, draining)
		case <-ctx.Done():
			worked <- nil
		}
		cancel()
	}()
	err := m.Run(ctx)
	cancel()
	if werr := <-worked; err == nil {
		err = werr
	}
	return err
}
