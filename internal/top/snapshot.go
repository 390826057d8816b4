// Package top is the screen of belay top: runs, gates and what they cost, with keys.
//
// A [Snapshot] is what there is to show at a moment; a [Model] is that and what the user has chosen of it. [Model.Press] changes the
// model by a key and returns what the user wants done, [Model.Rows] draws it for a size. Both are functions of their arguments alone:
// [Loop] brings them together with a terminal, and with a [Source] that looks and acts.
package top

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

// Snapshot is what there is to show at a moment.
type Snapshot struct {
	// At is that moment. Times are shown in its zone.
	At time.Time
	// Runs are those under way, oldest first, and then what killed ones have left, in the state [supervise.StateKilled].
	Runs    []supervise.Record
	Gates   []Gate
	Budgets []overview.Budget
	Limits  []overview.Limit
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

// Spend is what the record has of a day. Fields are only ever added.
type Spend struct {
	Since        time.Time `json:"since"`
	Runs         int64     `json:"runs"` // that have ended
	Failed       int64     `json:"failed"`
	Attempts     int64     `json:"attempts"`
	InputTokens  int64     `json:"input_tokens"`
	OutputTokens int64     `json:"output_tokens"`
	CostUSD      float64   `json:"cost_usd"`
	Estimated    int64     `json:"estimated_costs"` // attempts whose cost is an estimate
	Unknown      int64     `json:"unknown_costs"`   // attempts whose cost is not known
}

// usage is what an attempt has used. A cost that cannot be one is not known.
func usage(e journal.Entry) (u verdict.Usage) {
	if len(e.Usage) == 0 || json.Unmarshal(e.Usage, &u) != nil {
		return verdict.Usage{}
	}
	u.CostUSD = price.Credible(u.CostUSD)
	return u
}

// parts say it in words.
func (s *Spend) parts() []string {
	cost := dollars(s.CostUSD)
	if s.Estimated > 0 {
		cost = "~" + cost
	}
	if s.Unknown > 0 {
		cost = "≥ " + cost
	}
	runs := message.Count(int(s.Runs), "run")
	if s.Failed > 0 {
		runs += fmt.Sprintf(" (%d failed)", s.Failed)
	}
	parts := []string{"today " + cost, runs}
	if n := s.InputTokens + s.OutputTokens; n > 0 {
		parts = append(parts, short(n)+" tokens")
	}
	return parts
}
