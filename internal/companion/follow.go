//go:build !norecord

package companion

import (
	"context"
	"errors"
	"time"

	"github.com/belay-run/belay/internal/companion/db"
	"github.com/belay-run/belay/internal/term"
)

// followEvery is how often --follow reads the log.
const followEvery = 300 * time.Millisecond

// followEvery is how often it is looked for new rows. A fleet is asked less often.
func (q *question) followEvery() time.Duration {
	if q.on("fleet") {
		return time.Second
	}
	return followEvery
}

// follow shows the last rows, and then new ones as they come, until the context ends.
func (q *question) follow(ctx context.Context, attempts bool) error {
	shown := map[string]bool{}
	q.following = &term.Following{}
	first := true
	for {
		var newest time.Time
		var err error
		if attempts {
			err = followed(ctx, q, q.db.Attempts, q.attempts(), first, shown, &newest, func(a db.Attempt) (string, time.Time) { return a.Invocation + a.Ended.String(), a.Ended })
		} else {
			err = followed(ctx, q, q.db.Invocations, q.runs(), first, shown, &newest, func(i db.Invocation) (string, time.Time) { return i.ID + i.Status, i.Ended })
		}
		if err != nil {
			return err
		}
		if first {
			first = false
			q.filter.Limit = 0
			if q.filter.Since = q.now; !newest.IsZero() {
				q.filter.Since = newest
			}
		}
		// A line may be folded late, behind one with a later time: a little of what was shown is looked at again.
		if back := time.Now().Add(-time.Minute); q.filter.Since.Before(back) {
			q.filter.Since = back
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(q.followEvery()):
		}
		q.now = time.Now()
		q.db.Fold(ctx) // trouble was said once
	}
}

// followed lists what was not shown before.
func followed[T any](ctx context.Context, q *question, ask func(context.Context, db.Filter) ([]T, error), l listing[T], first bool,
	shown map[string]bool, newest *time.Time, name func(T) (string, time.Time)) error {
	list, err := ask(ctx, q.filter)
	var fresh []T
	for _, one := range list {
		key, at := name(one)
		if at.After(*newest) {
			*newest = at
		}
		if !shown[key] {
			shown[key] = true
			fresh = append(fresh, one)
		}
	}
	if len(fresh) == 0 && !first {
		return err
	}
	return errors.Join(err, l.write(q, fresh))
}
