package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/fleet/jobs"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/term"
)

// minKeep is how long lines of logs are kept at least: what is asked about the fleet is about some time. The same goes for results.
const minKeep = time.Hour

// keepFlag is how long something is kept; 0 if the flag was not given.
func keepFlag(r *request.Request, name string) (keep time.Duration, err error) {
	text := r.Text(name)
	if text == "" {
		return 0, nil
	}
	if keep, err = config.ParseDuration(text); err == nil && keep < minKeep {
		err = message.Error(fmt.Sprintf("%q is less than 1h", text))
	}
	if err != nil {
		return 0, &request.UsageError{Err: message.Error(message.InFlag(name, err), err)}
	}
	return keep, nil
}

// Init is belay fleet init.
func Init(ctx context.Context, r *request.Request) (int, error) {
	address, err := question.FleetAddress(r)
	if err != nil {
		return 0, err
	}
	keep, err := keepFlag(r, "keep")
	if err != nil {
		return 0, err
	}
	keepResults, err := keepFlag(r, "keep-results")
	if err != nil {
		return 0, err
	}
	s, err := store.Connect(ctx, address)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	before, after, err := s.Migrate(ctx)
	if err == nil && keep > 0 {
		err = s.SetKeep(ctx, keep)
	}
	if err == nil && keepResults > 0 {
		err = s.SetKeepResults(ctx, keepResults)
	}
	if err != nil {
		return 0, err
	}
	if err := settleKey(ctx, r, s, r.On("plain")); err != nil {
		return 0, err
	}
	return 0, term.Line(r.Out, message.FleetReady(address.Text, before, after))
}

// settleKey makes the key of a fleet, unless it is to have none.
func settleKey(ctx context.Context, r *request.Request, s *store.Store, plain bool) error {
	if plain {
		return jobs.Settle(ctx, s, nil)
	}
	key, made, err := jobs.MakeKey(keyFile())
	if err != nil {
		return err
	}
	if err := jobs.Settle(ctx, s, key); err != nil {
		return err
	}
	if made {
		return term.Line(r.Out, fmt.Sprintf("jobs are encrypted with the key in %s; copy it to each machine that submits jobs or works on them", keyFile()))
	}
	return nil
}
