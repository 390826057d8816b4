package member

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
)

const (
	// shipEvery is how often it is looked whether the log has grown.
	shipEvery = time.Second
	// pruneEvery is how often it is looked for lines in PostgreSQL that are too old.
	pruneEvery = time.Hour
)

// shipLog ships the log and removes old lines, beside all else: a long log does not hold up what is urgent. Trouble with it does not end the session,
// which notices by itself when the connection is lost.
func (s *session) shipLog(ctx context.Context) {
	var was logMark
	var pruned time.Time
	shipped := time.Now()
	policy := retry.Policy{BaseDelay: 2 * shipEvery, MaxDelay: 10 * maxPause}
	for failures := 0; ; {
		pause := shipEvery
		if time.Since(shipped) > time.Minute { // what is left of a torn line in a file that was moved aside counts after a while
			was, shipped = logMark{}, time.Now()
		}
		err := s.keepLog(ctx, &was, &pruned)
		switch {
		case ctx.Err() != nil || errors.Is(err, store.ErrStale):
			return
		case err != nil:
			was, pause = logMark{}, policy.Backoff(failures)
			if failures++; pause > 2*maxPause { // a session that has lost its connection is over by then
				s.sayOnce(message.FleetLocalTrouble("the log", err))
			}
		default:
			failures = 0
		}
		if retry.Sleep(ctx, pause) != nil {
			return
		}
	}
}

// keepLog ships what is new, and removes what is old.
func (s *session) keepLog(ctx context.Context, was *logMark, pruned *time.Time) error {
	if mark := markOf(s.State.LogPath()); mark != *was {
		if s.shipper.Keep == 0 {
			settings, err := s.store.Settings(ctx)
			if err != nil {
				return err
			}
			s.shipper.Keep = settings.Keep
		}
		if _, err := s.shipper.Ship(ctx); err != nil {
			return err
		}
		*was = mark
	}
	if time.Since(*pruned) < pruneEvery {
		return nil
	}
	*pruned = time.Now()
	settings, err := s.store.Settings(ctx)
	if err == nil {
		s.shipper.Keep = settings.Keep
		_, err = s.store.PruneLog(ctx, settings.Keep)
	}
	if err == nil {
		_, err = s.store.PruneJobs(ctx, settings.KeepResults)
	}
	return err
}

// logMark is how a log looks from outside.
type logMark struct {
	there bool
	size  int64
	at    time.Time
	aside int // how many files were moved aside
}

func markOf(path string) (m logMark) {
	m.there = true // or it would be as one that was never looked at
	if info, err := os.Lstat(path); err == nil {
		m.size, m.at = info.Size(), info.ModTime()
	}
	aside, _ := filepath.Glob(path + ".*")
	m.aside = len(aside)
	return m
}

// sayOnce says what was not said before.
func (s *session) sayOnce(text string) {
	s.saying.Lock()
	defer s.saying.Unlock()
	if !s.said[text] {
		s.said[text] = true
		s.Say(text)
	}
}

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
		if retry.Sleep(ctx, runsEvery) != nil {
			return
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
