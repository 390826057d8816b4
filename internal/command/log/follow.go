package log

import (
	"context"
	"errors"
	"time"

	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/term"
)

// followEvery is how often --follow reads the log. A fleet is asked less often.
const (
	followEvery      = 300 * time.Millisecond
	followFleetEvery = time.Second
)

// follow shows the last rows, and then new ones as they come, until the context ends. name is what a row is known by, and its time.
func follow[T any](ctx context.Context, q *question.Question, ask func(context.Context, record.Filter) ([]T, error), l question.Listing[T], name func(T) (string, time.Time)) error {
	every := followEvery
	if q.On("fleet") {
		every = followFleetEvery
	}
	shown := map[string]bool{}
	q.Following = &term.Following{}
	for first := true; ; first = false {
		list, err := ask(ctx, q.Filter)
		var fresh []T
		var newest time.Time
		for _, one := range list {
			key, at := name(one)
			if at.After(newest) {
				newest = at
			}
			if !shown[key] {
				shown[key] = true
				fresh = append(fresh, one)
			}
		}
		if first || len(fresh) > 0 {
			err = errors.Join(err, l.Write(q, fresh))
		}
		if err != nil {
			return err
		}
		if first {
			q.Filter.Limit = 0
			if q.Filter.Since = q.Now; !newest.IsZero() {
				q.Filter.Since = newest
			}
		}
		// A line may be folded late, behind one with a later time: a little of what was shown is looked at again.
		if back := time.Now().Add(-time.Minute); q.Filter.Since.Before(back) {
			q.Filter.Since = back
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(every):
		}
		q.Now = time.Now()
		q.DB.Fold(ctx) // trouble was said once
	}
}
