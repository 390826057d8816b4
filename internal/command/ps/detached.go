package ps

import (
	"slices"
	"time"

	"github.com/belay-run/belay/internal/spool"
	"github.com/belay-run/belay/internal/supervise"
)

// spooledRuns are the detached runs whose output was not delivered yet.
type spooledRuns []spool.Header

// has reports whether a run is detached.
func (d spooledRuns) has(id string) bool {
	return slices.ContainsFunc(d, func(h spool.Header) bool { return h.ID == id })
}

// stateOf says what a run does now, and that it is detached if it is.
func (d spooledRuns) stateOf(r supervise.Record) string {
	if d.has(r.ID) {
		return stateOf(r) + " (detached)"
	}
	return stateOf(r)
}

// over are those that have ended. One that is still among the runs is about to end.
func (d spooledRuns) over(runs []supervise.Record) (list []spool.Header) {
	for _, h := range d {
		if !h.Ended.IsZero() && !slices.ContainsFunc(runs, func(r supervise.Record) bool { return r.ID == h.ID }) {
			list = append(list, h)
		}
	}
	return list
}

// endedJSON is a detached run that has ended, as belay ps --json shows it.
func endedJSON(h spool.Header) any {
	return struct {
		ID       string    `json:"id"`
		Command  string    `json:"command"`
		Name     string    `json:"name,omitempty"`
		Started  time.Time `json:"started"`
		State    string    `json:"state"`
		Ended    time.Time `json:"ended"`
		ExitCode int       `json:"exit_code"`
		Detached bool      `json:"detached"`
	}{h.ID, h.Command, h.Name, h.Started, "ended", h.Ended, h.ExitCode, true}
}
