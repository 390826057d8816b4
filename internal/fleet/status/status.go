// Package status is what a fleet does now: the runs of all its machines and its gates, as its PostgreSQL has them, for commands and, as a [Watch], for a page.
package status

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/fleet/member"
	"github.com/belay-run/belay/internal/fleet/merge"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/supervise"
)

// Run is a run under way somewhere in the fleet, for programs too. Its times are those of this machine's clock.
type Run struct {
	Machine string `json:"machine"`
	member.Run
}

// Runs are the runs that are under way.
func Runs(ctx context.Context, s *store.Store) (list []Run, err error) {
	ahead, err := s.Ahead(ctx)
	if err != nil {
		return nil, err
	}
	runs, err := s.Runs(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		one := Run{Machine: r.Machine}
		if json.Unmarshal(r.Record, &one.Run) != nil {
			continue
		}
		for _, t := range []*time.Time{&one.Started, &one.Until, &one.Since} {
			if !t.IsZero() {
				*t = t.Add(ahead)
			}
		}
		list = append(list, one)
	}
	return list, nil
}

// Gates are the gates that are not healthy, with the runs that wait at them, and what is known of the limits of accounts.
func Gates(ctx context.Context, s *store.Store, runs []Run) ([]overview.Gate, []overview.Limit, error) {
	ahead, err := s.Ahead(ctx)
	if err != nil {
		return nil, nil, err
	}
	states, err := s.Gates(ctx)
	if err != nil {
		return nil, nil, err
	}
	var entries []gate.Entry
	for _, key := range slices.Sorted(maps.Keys(states)) {
		// Its times are those of this machine's clock.
		entries = append(entries, gate.Entry{Key: key, State: merge.Shifted(states[key].State, ahead)})
	}
	now := time.Now()
	records := make([]supervise.Record, len(runs))
	for i := range runs {
		records[i] = runs[i].Record
	}
	return overview.GatesOf(entries, now, records, func(i int) overview.Waiter {
		return overview.Waiter{ID: runs[i].ID, PID: runs[i].PID, Command: runs[i].Command, Machine: runs[i].Machine}
	}), overview.LimitsOf(entries, now), nil
}
