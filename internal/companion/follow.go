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
		if attempts {
			list, err := q.db.Attempts(ctx, q.filter)
			list = unseen(list, shown, &newest, func(a db.Attempt) (string, time.Time) { return a.Invocation + a.Ended.String(), a.Ended })
			if err := errors.Join(err, q.writeAttempts(list, first)); err != nil {
				return err
			}
		} else {
			list, err := q.db.Invocations(ctx, q.filter)
			list = unseen(list, shown, &newest, func(i db.Invocation) (string, time.Time) { return i.ID + i.Status, i.Ended })
			if err := errors.Join(err, q.writeRuns(list, first)); err != nil {
				return err
			}
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

// unseen drops what was shown before.
func unseen[T any](list []T, shown map[string]bool, newest *time.Time, name func(T) (string, time.Time)) (fresh []T) {
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
	return fresh
}
