// Package jobs runs tasks on the machines of a fleet, each exactly once as far as its result goes.
//
// A [Client] submits tasks and gets their results; a [Worker] works on them. What a job is and how it stands is a row of belay.job. River, the queue,
// decides which machine works on it next, and its jobs only refer to that row. What River lacks for jobs that last hours is here:
//
//   - A machine that works on a job has a lease on it, which it renews every few seconds. Any worker takes a job back whose lease is over
//     and puts it into the queue again, with the next attempt.
//   - The attempt is the fencing number. Every statement that a worker makes names it, so what a machine reports that was frozen or cut off
//     for too long is refused.
//   - Claims and renewals of a machine are made by one goroutine and reports by another, one statement for all that have come meanwhile. A
//     statement whose answer is lost is made again, and finds that it was made.
package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/belay-run/belay/internal/fleet/store"
)

const (
	// renewEvery is how often a worker says that it still works on its jobs.
	renewEvery = 5 * time.Second
	// leaseTime is how long a job stays with a machine that says nothing. With reapEvery it bounds how long the job of a dead machine waits: 30 s.
	leaseTime = 20 * time.Second
	reapEvery = 5 * time.Second
	// pollEvery is how often River polls for jobs in case a notification was missed. A poll costs as much as all else that an idle worker does in a second.
	pollEvery = 4 * time.Second
	// statementTime is how long a statement may take, so that a connection which loses all packets cannot block a worker.
	statementTime = 10 * time.Second
)

// sendTime is how long a statement may take that sends or fetches so many bytes: a connection of 64 KiB a second is slow, and not dead.
func sendTime(size int64) time.Duration { return 3*statementTime + time.Duration(size>>16)*time.Second }

// reference is a job of River: which of ours is to be worked on. Attempt is the one that it is for; a job that has another one meanwhile is not meant.
type reference struct {
	Job     int64 `json:"job"`
	Attempt int   `json:"attempt"`

	needs, refused []string // see queueOf
}

// Kind implements [river.JobArgs].
func (reference) Kind() string { return "belay" }

// longAgo is the clock that River uses when it puts jobs into the queue. With the same time for all, their order is that of their ids, whatever the clocks of machines say.
// Jobs that are scheduled for later would not do: they wait for the leader of River's clients, and a leader that has died is replaced only after some 15 s.
type longAgo struct{}

// Now is the time, for what River measures.
func (longAgo) Now() time.Time { return time.Now() }

// NowOrNil is the time of day, for the queue.
func (longAgo) NowOrNil() *time.Time {
	t := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	return &t
}

// Priorities in the queue. A job that has lost its machine has waited already.
const (
	comesBack  = 1
	firstEntry = 2
)

// queueAll is the queue of jobs that any machine can run.
const queueAll = "jobs"

// queueOf is the queue of jobs with these needs, which these machines have refused. Workers listen to the queues whose needs they have and that they have not
// refused: others are never asked, so that nothing is fetched and put back.
func queueOf(needs, refused []string) string {
	switch {
	case len(refused) > 0:
		return "left-" + digest(strings.Join(needs, "\n")+"\x00"+strings.Join(normal(refused), "\n"))
	case len(needs) > 0:
		return "needs-" + digest(strings.Join(needs, "\n"))
	}
	return queueAll
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}

// normal sorts needs and removes duplicates, so that two lists with the same labels are equal.
func normal(needs []string) []string {
	list := slices.Clone(needs)
	slices.Sort(list)
	return slices.Compact(list)
}

// channel is where the submitter of a batch hears of results.
func channel(batch string) string { return "belay_batch_" + digest(batch) }

// tellBatch is the expression that notifies the channel of a row's batch.
const tellBatch = "pg_notify('belay_batch_' || substr(encode(sha256(convert_to(batch, 'UTF8')), 'hex'), 1, 24), '')"

// inserter makes a client of River that works on nothing.
func inserter(pool *pgxpool.Pool) (*river.Client[pgx.Tx], error) {
	return river.NewClient(riverpgxv5.New(pool), &river.Config{Schema: store.Schema, Logger: slog.New(slog.DiscardHandler)})
}

// enqueue puts references into River's queue, within a transaction.
func enqueue(ctx context.Context, tx pgx.Tx, refs []reference) error {
	config := &river.Config{Schema: store.Schema, Logger: slog.New(slog.DiscardHandler)}
	config.Test.Time = longAgo{}
	queue, err := river.NewClient(riverpgxv5.New(nil), config)
	if err != nil {
		return err
	}
	params := make([]river.InsertManyParams, len(refs))
	for i, ref := range refs {
		priority := firstEntry
		if ref.Attempt > 1 {
			priority = comesBack
		}
		params[i] = river.InsertManyParams{Args: ref, InsertOpts: &river.InsertOpts{Queue: queueOf(ref.needs, ref.refused), MaxAttempts: 1000, Priority: priority}}
	}
	for chunk := range slices.Chunk(params, 5000) {
		if _, err := queue.InsertManyFastTx(ctx, tx, chunk); err != nil {
			return err
		}
	}
	return nil
}
