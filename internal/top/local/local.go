// Package local is what belay top shows of this machine: its state directory and its record.
package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/page/view"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/record/database"
	"github.com/belay-run/belay/internal/spool"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/top"
)

// leftInterval is how often belay top looks for what killed runs have left, which means to look at every process there is.
const leftInterval = 10 * time.Second

// Source is what belay top shows of a state directory, and does. It implements [top.Source].
type Source struct {
	View view.Source

	mu       sync.Mutex
	left     []supervise.Record
	leftErr  error
	looked   time.Time // when left was last looked for
	looking  bool
	panicked any
}

// Snapshot is a snapshot for programs. Runs, gates, budgets and limits are as belay ps, gates, budget and limits print them. Fields are only ever added.
type Snapshot struct {
	Timestamp journal.Time      `json:"timestamp"`
	Runs      []any             `json:"runs"`
	Gates     []overview.Gate   `json:"gates"`
	Budgets   []overview.Budget `json:"budgets"`
	Limits    []overview.Limit  `json:"limits"`
	Today     top.Spend         `json:"today"`
}

// JSON is a snapshot for programs.
func (t *Source) JSON() (Snapshot, error) {
	now := time.Now()
	s := Snapshot{Timestamp: journal.Time{Time: now}, Runs: []any{}}
	t.FindLeft()
	runs, err := t.runs()
	if err != nil {
		return s, err
	}
	spools, _ := t.View.State.Spools().List() // what cannot be read is not what is asked for
	for _, r := range runs {
		s.Runs = append(s.Runs, overview.RunJSON(r, slices.ContainsFunc(spools, func(h spool.Header) bool { return h.ID == r.ID })))
	}
	if s.Gates, s.Limits, err = overview.Gates(t.View.State); err != nil {
		return s, err
	}
	if s.Budgets, err = t.View.Budgets(); err != nil {
		return s, err
	}
	s.Today, err = t.today(now)
	return s, err
}

// Snapshot implements [top.Source]. A part that cannot be had is left out, and the others are shown.
func (t *Source) Snapshot() top.Snapshot {
	t.refreshLeft()
	now := time.Now()
	s := top.Snapshot{At: now}
	runs, trouble := t.runs()
	s.Runs = runs
	gates, limits, err := overview.Gates(t.View.State)
	s.Limits = limits
	trouble = errors.Join(trouble, err)
	for _, g := range gates {
		s.Gates = append(s.Gates, topGate(g, now))
	}
	s.Budgets, err = t.View.Budgets()
	trouble = errors.Join(trouble, err)
	s.Today, err = t.today(now)
	if trouble = errors.Join(trouble, err); trouble != nil {
		s.Trouble = strings.ReplaceAll(trouble.Error(), "\n", "; ")
	}
	return s
}

// today is what the record has of the day of now.
func (t *Source) today(now time.Time) (top.Spend, error) {
	s := top.Spend{Since: time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())}
	dir := t.View.State.Dir
	if t.View.DB == nil {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return s, nil // nothing has ever run
		}
		d, err := record.Open(dir)
		if err != nil {
			return s, database.OpenError(dir, err)
		}
		t.View.DB = d
	}
	var trouble error
	for _, text := range t.View.DB.Said {
		trouble = errors.Join(trouble, errors.New(text))
	}
	ctx := context.Background()
	_, err := t.View.DB.Fold(ctx)
	trouble = errors.Join(trouble, err)
	_, sum, err := t.View.DB.Stats.Groups(ctx, record.Filter{Since: s.Since}, record.ByDay, now.Location())
	s.Runs, s.Failed, s.Attempts, s.InputTokens, s.OutputTokens = sum.Invocations, sum.Invocations-sum.Succeeded, sum.Attempts, sum.Usage.InputTokens, sum.Usage.OutputTokens
	if s.Estimated, s.Unknown = sum.EstimatedCosts, sum.UnknownCosts; sum.Usage.CostUSD != nil {
		s.CostUSD = *sum.Usage.CostUSD
	}
	return s, errors.Join(trouble, err)
}

// Close closes the record.
func (t *Source) Close() {
	if t.View.DB != nil {
		t.View.DB.Close()
	}
}

// runs are those under way and what killed ones have left, as far as that is known.
func (t *Source) runs() ([]supervise.Record, error) {
	runs, err := overview.Runs(t.View.State.Records())
	t.mu.Lock()
	defer t.mu.Unlock()
	return append(runs, t.left...), errors.Join(err, t.leftErr)
}

// refreshLeft finds what killed runs have left if that was not done lately, without waiting for it: it takes seconds if there is
// something.
func (t *Source) refreshLeft() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.panicked != nil {
		panic(t.panicked)
	}
	if t.looking || time.Since(t.looked) < leftInterval {
		return
	}
	t.looking = true
	go func() {
		defer func() {
			if r := recover(); r != nil {
				t.mu.Lock()
				defer t.mu.Unlock()
				t.panicked = r
			}
		}()
		t.FindLeft()
	}()
}

// FindLeft finds what killed runs have left, which takes seconds if there is something.
func (t *Source) FindLeft() {
	_, left, err := overview.Left(t.View.State)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left, t.leftErr, t.looked, t.looking = left, err, time.Now(), false
}

func topGate(g overview.Gate, now time.Time) top.Gate {
	shown := top.Gate{Key: g.Key, Full: g.Full}
	shown.State, shown.Since, shown.Until, shown.Reason = g.Columns(now)
	shown.Closed = g.Closed(now)
	for _, w := range g.Waiting {
		shown.Waiting = append(shown.Waiting, fmt.Sprintf("%s (%s)", printable.ShortID(w.ID), w.Command))
	}
	return shown
}

// Lines implements [top.Source].
func (t *Source) Lines(r supervise.Record) []journal.Entry { return t.View.State.Lines(r) }

// Do implements [top.Source].
func (t *Source) Do(a top.Action) string {
	text, err := t.do(a)
	if err != nil {
		return strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return text
}

func (t *Source) do(a top.Action) (string, error) {
	switch a.Kind {
	case top.Cancel:
		err := a.Run.RequestStop(supervise.StopRequest{By: "belay top"})
		switch {
		case errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH):
			return fmt.Sprintf("%s (%s) has already ended", printable.ShortID(a.Run.ID), a.Run.Command), nil
		case err != nil:
			return "", message.Error(message.CannotCancel(a.Run.Owner.PID, err), err)
		}
		return message.Cancelled(printable.ShortID(a.Run.ID), a.Run.Command), nil
	case top.Reap:
		ended, err := t.View.State.Records().ReclaimAll()
		t.FindLeft()
		return message.Ended(fmt.Sprint(ended)), err
	case top.Reset:
		return t.View.ResetGate(a.Gate)
	}
	return "", nil
}
