// Package top is the screen of belay top: runs, gates and what they cost, with keys.
//
// A [Snapshot] is what there is to show at a moment; a [Model] is that and what the user has chosen of it. [Model.Press] changes the
// model by a key and returns what the user wants done, [Model.Rows] draws it for a size. Both are functions of their arguments alone:
// [Loop] brings them together with a terminal, and with a [Source] that looks and acts.
package top

import (
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/supervise"
)

// Snapshot is what there is to show at a moment.
type Snapshot struct {
	// At is that moment. Times are shown in its zone.
	At time.Time
	// Runs are those under way, oldest first, and then what killed ones have left, in the state [supervise.StateKilled].
	Runs    []supervise.Record
	Gates   []Gate
	Budgets []overview.Budget
	Today   Spend
	// Trouble is why a part of it is missing; empty if nothing is.
	Trouble string
}

// Gate is one that does not let every call start.
type Gate struct {
	Key, State   string
	Since, Until time.Time
	Waiting      []string // what waits at it: a short id and a command
	Reason       string
	// Closed says that it lets no call start now, Full that its slots are taken and there is nothing to reset.
	Closed, Full bool
}

// Source is where the screen gets what it shows, and what it has things done by.
type Source interface {
	Snapshot() Snapshot
	// Lines are what the log has of a run.
	Lines(supervise.Record) []journal.Entry
	// Do does what the user has asked for and returns what to say of it.
	Do(Action) string
}

// Action is what a key asks for.
type Action struct {
	Kind Kind
	Run  supervise.Record // to cancel
	Gate string           // to reset
}

// Kind is what is to be done.
type Kind int

const (
	Nothing Kind = iota
	Quit
	Refresh
	Cancel // a run
	Reap   // end what killed runs have left
	Reset  // a gate
)
