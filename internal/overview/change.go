package overview

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/clock"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/state"
)

// Change is a change that a person makes, as it is put on record.
type Change struct {
	Event, Key string
	Until      time.Time
	Reason     string
}

// Record appends the change to the log.
func (c Change) Record(s *state.State) error {
	detail := map[string]string{}
	if !c.Until.IsZero() {
		detail["until"] = c.Until.UTC().Format(time.RFC3339)
	}
	if c.Reason != "" {
		detail["reason"] = c.Reason
	}
	text, _ := json.Marshal(detail) // texts always have a form
	log := journal.Log{Path: s.LogPath()}
	return log.Append(journal.Entry{Timestamp: journal.Time{Time: time.Now()}, Kind: journal.Audit, Event: c.Event, Gate: c.Key,
		Status: journal.Success, Detail: text})
}

// CheckKey refuses what cannot be the key of a gate.
func CheckKey(key string) error { return config.Find("gate").Check(key) }

// SetGate changes a gate by hand. unrecorded says that the change was made and could not be put on record.
func SetGate(s *state.State, c Change, change func(gate.State, time.Time) gate.State) (unrecorded, err error) {
	now := clock.Now()
	err = s.Gates().Update(c.Key, now, func(s gate.State) gate.State { return change(s, now) })
	if err != nil && !errors.Is(err, gate.ErrDamaged) {
		return nil, err
	}
	return c.Record(s), nil
}
