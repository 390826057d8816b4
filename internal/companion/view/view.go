// Package view is what belay ui shows, as data: each view is a struct that becomes JSON. What it looks like is the business of what renders
// it.
//
// [Source.Now] comes from the state directory as it is; all else comes from the record.
package view

import (
	"context"

	"github.com/belay-run/belay/internal/companion/db"
	"github.com/belay-run/belay/internal/state"
)

// Source is where views come from.
type Source struct {
	State *state.State
	DB    *db.DB
	// Belay is where belay is, by which batches are run again; empty if none can be.
	Belay string
	// Fleet is what all machines of a fleet do now; nil if the views are about this machine. DB is the record of the fleet then.
	Fleet Fleet

	batches statuses
}

// Fleet is what all machines of a fleet do now. None of it waits for anything.
type Fleet interface {
	// Now is what runs and what keeps it waiting, as it was last heard of. Trouble says how old that is, if PostgreSQL cannot be reached.
	Now() Now
	// Stamp is another one when there is more in the logs of the machines.
	Stamp() string
}

// Unclear is a question that cannot be answered because of how it is put.
type Unclear struct{ Err error }

func (u *Unclear) Error() string { return u.Err.Error() }
func (u *Unclear) Unwrap() error { return u.Err }

// Fold brings the record up to date.
func (s *Source) Fold(ctx context.Context) error {
	if s.Fleet == nil {
		s.State.ReportKilled() // what cannot be written now is found by the next one
	}
	_, err := s.DB.Fold(ctx)
	return err
}

// Progress is how much of the log is in the record, in bytes.
func (s *Source) Progress(ctx context.Context) (done, total int64) { return s.DB.Progress(ctx) }
