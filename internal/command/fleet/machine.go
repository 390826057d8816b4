package fleet

import (
	"context"
	"fmt"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/term"
)

// Drain is belay fleet drain.
func Drain(ctx context.Context, r *request.Request) (int, error) {
	return change(ctx, r, (*store.Store).Drain, message.FleetDraining)
}

// Remove is belay fleet remove.
func Remove(ctx context.Context, r *request.Request) (int, error) {
	return change(ctx, r, (*store.Store).Remove, message.FleetRemoved)
}

// change does something to the machine that is named, and says so.
func change(ctx context.Context, r *request.Request, do func(*store.Store, context.Context, string) error, done func(string) string) (int, error) {
	if len(r.Rest) != 1 || r.Rest[0] == "" {
		return 0, &request.UsageError{Err: message.Error(fmt.Sprintf("which machine? For example: belay %s build-3", r.Command.Name))}
	}
	return inFleet(ctx, r, func(s *store.Store) error {
		if err := do(s, ctx, r.Rest[0]); err != nil {
			return err
		}
		return term.Line(r.Out, done(r.Rest[0]))
	})
}
