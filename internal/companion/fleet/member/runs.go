package member

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/belay-run/belay/internal/companion/fleet/store"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
)

const (
	// runsEvery is how often what runs do is told at most.
	runsEvery = time.Second
	// runsAnyway is how often it is looked at without a change of their records: a run whose belay was killed leaves its record.
	runsAnyway = 10 * time.Second
)

// Run is what the fleet is told of a run.
type Run struct {
	supervise.Record
	PID int `json:"pid"`
}

// shareRuns tells the fleet what is running on this machine.
func (s *session) shareRuns(ctx context.Context) {
	changes, err := watchWrites(s.State.Records().Dir)
	if err != nil {
		s.sayOnce(message.FleetLocalTrouble("what is running", err))
		return
	}
	defer changes.stop()
	told := map[string]string{}
	for failures := 0; ; {
		err := s.tellRuns(ctx, &told)
		switch {
		case ctx.Err() != nil || errors.Is(err, store.ErrStale):
			return
		case err == nil:
			failures = 0
		default:
			told = nil
			if failures++; failures == 10 { // a session that has lost its connection is over by then
				s.sayOnce(message.FleetLocalTrouble("what is running", err))
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(runsEvery):
		}
		select {
		case <-ctx.Done():
			return
		case <-changes.happened:
		case <-time.After(runsAnyway):
		}
	}
}

// tellRuns tells what has changed since it was told; nil stands for nothing that is known.
func (s *session) tellRuns(ctx context.Context, told *map[string]string) error {
	records, err := s.State.Records().List()
	if err != nil {
		return err
	}
	ahead := time.Duration(s.clockAhead.Load())
	now, all, changed := map[string]string{}, []string{}, map[string][]byte{}
	for _, r := range records {
		for _, t := range []*time.Time{&r.Started, &r.Until, &r.Since} {
			if !t.IsZero() {
				*t = t.Add(-ahead)
			}
		}
		r.Home = "" // a directory of this machine
		data, err := json.Marshal(Run{r, r.Owner.PID})
		if err != nil {
			return err
		}
		now[r.ID] = string(data)
		all = append(all, r.ID)
		if (*told)[r.ID] != string(data) {
			changed[r.ID] = data
		}
	}
	if *told != nil && len(changed) == 0 && len(now) == len(*told) {
		return nil
	}
	if err := s.store.PutRuns(ctx, s.id, all, changed); err != nil {
		return err
	}
	*told = now
	return nil
}
