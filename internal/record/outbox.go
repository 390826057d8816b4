package record

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"time"

	"github.com/belay-run/belay/internal/record/database"
)

// insertOutbox adds the runs that have ended with one of these lines, if they are to be sent.
func insertOutbox(ctx context.Context, conn *sql.Conn, lines []line) error {
	var ended []*line
	for i := range lines {
		if l := &lines[i]; l.Telemetry != nil && *l.Telemetry && final(&l.Entry) {
			ended = append(ended, l)
		}
	}
	_, err := outboxRows.insert(ctx, conn, len(ended), func(i int) ([]any, *Figures) { return []any{ended[i].Invocation, null(ended[i].Provider)}, nil })
	return err
}

var outboxRows = rows{table: "outbox", columns: "invocation, provider"}

// Outbox is what is still to be sent as traces, and what is known of the sending.
type Outbox struct{ db *database.DB }

// Unsent is a run that is still to be sent.
type Unsent struct {
	Invocation
	Provider string // whose service it has called, in one word; empty if that is not known
	Attempts []Attempt
}

// Unsent returns the runs that are still to be sent, the oldest first: so many at most.
func (o Outbox) Unsent(ctx context.Context, limit int) (list []Unsent, err error) {
	const some = "(SELECT invocation FROM outbox ORDER BY invocation LIMIT ?)"
	invocations, err := database.Newest(ctx, o.db, "SELECT "+invocationColumns+" FROM invocations i WHERE i.id IN "+some+" ORDER BY i.id DESC", []any{limit}, 0, scanInvocation)
	if err != nil {
		return nil, err
	}
	attempts, err := database.Newest(ctx, o.db, "SELECT "+attemptColumns+" FROM attempts a JOIN invocations i ON i.id = a.invocation WHERE a.invocation IN "+some+
		" ORDER BY a.timestamp DESC, a.attempt = 0 DESC, a.attempt DESC", []any{limit}, 0, scanAttempt)
	if err != nil {
		return nil, err
	}
	index := map[string]int{}
	for _, inv := range invocations {
		one := Unsent{Invocation: inv}
		if err := o.db.Row(ctx, "SELECT coalesce(provider, '') FROM outbox WHERE invocation = ?", []any{inv.ID}, &one.Provider); err != nil {
			return nil, err
		}
		index[inv.ID] = len(list)
		list = append(list, one)
	}
	for _, a := range attempts {
		if i, ok := index[a.Invocation]; ok {
			list[i].Attempts = append(list[i].Attempts, a)
		}
	}
	return list, nil
}

// Sent takes runs out of the outbox: they have been sent, of which rejected spans were not taken, or are not to be sent.
func (o Outbox) Sent(ctx context.Context, runs []Unsent, rejected int64) error {
	return o.db.Write(ctx, func(conn *sql.Conn) error {
		for _, r := range runs {
			if _, err := conn.ExecContext(ctx, "DELETE FROM outbox WHERE invocation = ?", r.ID); err != nil {
				return err
			}
		}
		_, err := conn.ExecContext(ctx, "UPDATE exporter SET sent = sent + ?, rejected = rejected + ?, last_sent = ?", len(runs), rejected, time.Now().UnixMilli())
		return err
	})
}

// Clear empties the outbox and returns how many runs were in it.
func (o Outbox) Clear(ctx context.Context) (int64, error) {
	res, err := o.db.SQL.ExecContext(ctx, "DELETE FROM outbox")
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Exporter is what is known of the sending of telemetry.
type Exporter struct {
	Instance string // names this record to receivers
	Waiting  int64  // runs in the outbox
	Sent     int64  // runs
	Rejected int64  // spans that the receiver did not take
	LastSent *time.Time
	Trouble  string // why it could not be sent, the last time; empty if it could
	Troubled *time.Time
}

// Exporter tells how the sending of telemetry stands.
func (o Outbox) Exporter(ctx context.Context) (e Exporter, err error) {
	var last, troubled *int64
	err = o.db.Row(ctx, "SELECT instance, sent, rejected, last_sent, coalesce(trouble, ''), troubled FROM exporter", nil,
		&e.Instance, &e.Sent, &e.Rejected, &last, &e.Trouble, &troubled)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return e, err
	}
	e.LastSent, e.Troubled = timeOf(last), timeOf(troubled)
	return e, o.db.Row(ctx, "SELECT count(*) FROM outbox", nil, &e.Waiting)
}

// Begin gives the record a name for receivers, the first time.
func (o Outbox) Begin(ctx context.Context) error {
	var id [16]byte
	rand.Read(id[:])
	_, err := o.db.SQL.ExecContext(ctx, "INSERT INTO exporter (id, instance) VALUES (1, ?) ON CONFLICT DO NOTHING", hex.EncodeToString(id[:]))
	return err
}

// Note puts on record why telemetry could not be sent; nil that it could.
func (o Outbox) Note(ctx context.Context, trouble error) error {
	if trouble == nil {
		_, err := o.db.SQL.ExecContext(ctx, "UPDATE exporter SET trouble = NULL, troubled = NULL WHERE trouble IS NOT NULL")
		return err
	}
	_, err := o.db.SQL.ExecContext(ctx, "UPDATE exporter SET trouble = ?, troubled = ?", trouble.Error(), time.Now().UnixMilli())
	return err
}

// exportPoll is how often a process looks whether it is its turn to send.
const exportPoll = 50 * time.Millisecond

// Alone runs send in one process at a time. Of several that want to, one more waits for its turn, and the others leave it to that
// one, which begins after all they want to be sent was in the log. It reports whether send was run. The turn is waited for until ctx ends: a process
// whose receiver does not answer may keep it for a minute.
func (o Outbox) Alone(ctx context.Context, send func() error) (ran bool, err error) {
	lock, held := database.TryLock(o.db.Path() + ".export")
	if !held {
		next, first := database.TryLock(o.db.Path() + ".export-next")
		if !first {
			return false, nil
		}
		look := time.NewTicker(exportPoll)
		defer look.Stop()
		for !held && ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-look.C:
				lock, held = database.TryLock(o.db.Path() + ".export")
			}
		}
		next.Close()
		if !held {
			return false, ctx.Err()
		}
	}
	defer lock.Close()
	return true, send()
}
