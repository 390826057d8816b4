package fleet

import (
	"context"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/fleet/jobs"
	"github.com/belay-run/belay/internal/fleet/store"
)

// Courier carries the tasks of belay batch --fleet to the fleet, and their results back.
func Courier(ctx context.Context, r *request.Request) (int, error) {
	address, err := question.FleetAddress(r)
	if err != nil {
		return 0, err
	}
	s, key, err := openWithKey(ctx, address)
	if store.Unreachable(err) && ctx.Err() == nil { // it is starting, has no connection left, or is away: nothing was submitted
		r.Say(err.Error())
		return request.CodeLater, nil
	}
	if err != nil {
		return 0, err
	}
	defer s.Close()
	return 0, jobs.Follow(ctx, &jobs.Client{Store: s, Key: key}, r.In, r.Out.Raw())
}
