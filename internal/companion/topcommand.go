//go:build !norecord

package companion

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

	"github.com/charmbracelet/x/ansi"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/page/view"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/spool"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/top"
)

// minInterval is how often the screen may be refreshed.
const minInterval = 100 * time.Millisecond

// topCommand is belay top.
func topCommand(ctx context.Context, from caller, a *arguments) (int, error) {
	every, err := config.ParseDuration(a.text("interval"))
	if err == nil && every < minInterval {
		err = fmt.Errorf("%q is less than %s", a.text("interval"), minInterval)
	}
	if err != nil {
		return 0, &usageError{err: message.Error(message.InFlag("interval", err), err)}
	}
	dir, err := state.DefaultDir()
	if err != nil {
		return 0, err
	}
	own, _ := config.Prices() // a mistake in the file is not what is asked for here
	opened := &state.State{Dir: dir, Prices: own}
	lazyGC()
	t := &topSource{view: view.Source{State: opened}}
	defer t.close()
	switch {
	case a.on("json"):
		snapshot, err := t.json()
		if err != nil {
			return 0, err
		}
		return 0, term.JSON(from.Out, snapshot)
	case !top.Possible(from.In, from.Out.Raw()):
		return 0, t.print(from.Out)
	}
	caught := catchSignals()
	defer caught.stop()
	sig, err := top.Show(ctx, from.In, from.Out.Raw(), term.Colored(true), caught, t, every)
	switch {
	case err != nil && ctx.Err() == nil:
		return 0, fmt.Errorf("cannot use the terminal: %w", err)
	case sig != 0:
		return 128 + int(sig), nil
	}
	return 0, ctx.Err()
}

// print shows the screen once.
func (t *topSource) print(w *stdio.Output) error {
	t.lookForLeft()
	m := &top.Model{}
	m.Update(t.Snapshot())
	var b strings.Builder
	for _, row := range m.Rows(term.Columns(w), 0) {
		if !term.PaletteOf(w).Colored() {
			row = ansi.Strip(row)
		}
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	return term.Text(w, b.String())
}

// leftInterval is how often belay top looks for what killed runs have left, which means to look at every process there is.
const leftInterval = 10 * time.Second

// topSource is what belay top shows, and does.
type topSource struct {
	view view.Source

	mu       sync.Mutex
	left     []supervise.Record
	leftErr  error
	looked   time.Time // when left was last looked for
	looking  bool
	panicked any
}

// topJSON is a snapshot for programs. Runs, gates, budgets and limits are as belay ps, gates, budget and limits print them. Fields are only ever added.
type topJSON struct {
	Timestamp journal.Time      `json:"timestamp"`
	Runs      []any             `json:"runs"`
	Gates     []overview.Gate   `json:"gates"`
	Budgets   []overview.Budget `json:"budgets"`
	Limits    []overview.Limit  `json:"limits"`
	Today     top.Spend         `json:"today"`
}

func (t *topSource) json() (topJSON, error) {
	now := time.Now()
	s := topJSON{Timestamp: journal.Time{Time: now}, Runs: []any{}}
	t.lookForLeft()
	runs, err := t.runs()
	if err != nil {
		return s, err
	}
	spools, _ := t.view.State.Spools().List() // what cannot be read is not what is asked for
	for _, r := range runs {
		s.Runs = append(s.Runs, overview.RunJSON(r, slices.ContainsFunc(spools, func(h spool.Header) bool { return h.ID == r.ID })))
	}
	if s.Gates, s.Limits, err = overview.Gates(t.view.State); err != nil {
		return s, err
	}
	if s.Budgets, err = t.view.Budgets(); err != nil {
		return s, err
	}
	s.Today, err = t.today(now)
	return s, err
}

// Snapshot implements [top.Source]. A part that cannot be had is left out, and the others are shown.
func (t *topSource) Snapshot() top.Snapshot {
	t.refreshLeft()
	now := time.Now()
	s := top.Snapshot{At: now}
	runs, trouble := t.runs()
	s.Runs = runs
	gates, limits, err := overview.Gates(t.view.State)
	s.Limits = limits
	trouble = errors.Join(trouble, err)
	for _, g := range gates {
		s.Gates = append(s.Gates, topGate(g, now))
	}
	s.Budgets, err = t.view.Budgets()
	trouble = errors.Join(trouble, err)
	s.Today, err = t.today(now)
	if trouble = errors.Join(trouble, err); trouble != nil {
		s.Trouble = strings.ReplaceAll(trouble.Error(), "\n", "; ")
	}
	return s
}

// today is what the record has of the day of now.
func (t *topSource) today(now time.Time) (top.Spend, error) {
	s := top.Spend{Since: time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())}
	dir := t.view.State.Dir
	if t.view.DB == nil {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return s, nil // nothing has ever run
		}
		d, err := record.Open(dir)
		if err != nil {
			return s, openTrouble(dir, err)
		}
		t.view.DB = d
	}
	var trouble error
	for _, text := range t.view.DB.Said {
		trouble = errors.Join(trouble, errors.New(text))
	}
	ctx := context.Background()
	_, err := t.view.DB.Fold(ctx)
	trouble = errors.Join(trouble, err)
	_, sum, err := t.view.DB.Stats(ctx, record.Filter{Since: s.Since}, record.ByDay, now.Location())
	s.Runs, s.Failed, s.Attempts, s.InputTokens, s.OutputTokens = sum.Invocations, sum.Invocations-sum.Succeeded, sum.Attempts, sum.Usage.InputTokens, sum.Usage.OutputTokens
	if s.Estimated, s.Unknown = sum.EstimatedCosts, sum.UnknownCosts; sum.Usage.CostUSD != nil {
		s.CostUSD = *sum.Usage.CostUSD
	}
	return s, errors.Join(trouble, err)
}

func (t *topSource) close() {
	if t.view.DB != nil {
		t.view.DB.Close()
	}
}

// runs are those under way and what killed ones have left, as far as that is known.
func (t *topSource) runs() ([]supervise.Record, error) {
	runs, err := overview.Runs(t.view.State.Records())
	t.mu.Lock()
	defer t.mu.Unlock()
	return append(runs, t.left...), errors.Join(err, t.leftErr)
}

// refreshLeft looks for what killed runs have left if that was not done lately, without waiting for it: it takes seconds if there is
// something.
func (t *topSource) refreshLeft() {
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
		t.lookForLeft()
	}()
}

func (t *topSource) lookForLeft() {
	_, left, err := overview.Left(t.view.State)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left, t.leftErr, t.looked, t.looking = left, err, time.Now(), false
}

func topGate(g overview.Gate, now time.Time) top.Gate {
	shown := top.Gate{Key: g.Key, Full: g.Full}
	shown.State, shown.Since, shown.Until, shown.Reason = g.Columns(now)
	shown.Closed = g.Closed(now)
	for _, w := range g.Waiting {
		shown.Waiting = append(shown.Waiting, fmt.Sprintf("%s (%s)", shortID(w.ID), w.Command))
	}
	return shown
}

// Lines implements [top.Source].
func (t *topSource) Lines(r supervise.Record) []journal.Entry { return t.view.State.Lines(r) }

// Do implements [top.Source].
func (t *topSource) Do(a top.Action) string {
	text, err := t.do(a)
	if err != nil {
		return strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return text
}

func (t *topSource) do(a top.Action) (string, error) {
	switch a.Kind {
	case top.Cancel:
		err := a.Run.RequestStop(supervise.StopRequest{By: "belay top"})
		switch {
		case errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH):
			return fmt.Sprintf("%s (%s) has already ended", shortID(a.Run.ID), a.Run.Command), nil
		case err != nil:
			return "", message.Error(message.CannotCancel(a.Run.Owner.PID, err), err)
		}
		return message.Cancelled(shortID(a.Run.ID), a.Run.Command), nil
	case top.Reap:
		ended, err := t.view.State.Records().ReclaimAll()
		t.lookForLeft()
		return message.Ended(fmt.Sprint(ended)), err
	case top.Reset:
		return t.view.ResetGate(a.Gate)
	}
	return "", nil
}
