package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/top"
)

// minInterval is how often the screen may be refreshed.
const minInterval = 100 * time.Millisecond

func newTop() *cobra.Command {
	interval, asJSON := "2s", false
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Watch runs, gates and spending, and step in",
		Example: `Watch what runs:
  belay top
Refresh twice a second:
  belay top --interval 500ms
Print one snapshot for a program:
  belay top --json`,
		Long: `Shows what runs and what waits, gates that are not healthy, budgets and what was spent today, and
refreshes itself. Keys: up and down (or j and k) select, Enter shows everything about one run, x
cancels it, Tab goes to the gates, r resets one, ? shows all keys, q quits.

Where there is no terminal it prints the screen once, and with --json one snapshot.`,
		Args: noArgs,
	}
	addText(cmd.Flags(), &interval, "interval", "D", "how often to refresh (2s)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one snapshot as JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		every, err := config.ParseDuration(interval)
		if err == nil && every < minInterval {
			err = message.Error(fmt.Sprintf("%q is less than %s", interval, minInterval))
		}
		if err != nil {
			return usage(message.Error(message.InFlag("interval", err), err), "")
		}
		source, err := newTopSource()
		if err != nil {
			return err
		}
		if asJSON {
			snapshot, err := source.json()
			if err != nil {
				return err
			}
			return term.JSON(cmd.OutOrStdout(), snapshot)
		}
		if ownsProcess(cmd.Context()) == nil { // the terminal's signals are not ours to catch
			return source.print(cmd)
		}
		screen, err := term.OpenFullscreen(cmd.InOrStdin(), cmd.OutOrStdout())
		if errors.Is(err, term.ErrNoFullscreen) {
			return source.print(cmd)
		}
		if err != nil {
			return &failure{err}
		}
		defer screen.Close() // also if it panics
		sig, err := top.Loop(cmd.Context(), screen, source, every)
		switch {
		case cmd.Context().Err() != nil:
			return exit(codeStopped)
		case err != nil:
			return &failure{message.Error(fmt.Sprintf("cannot use the terminal: %v", err), err)}
		case sig != 0:
			return exit(128 + int(sig))
		}
		return nil
	}
	return cmd
}

// leftInterval is how often belay top looks for what killed runs have left, which means to look at every process there is.
const leftInterval = 10 * time.Second

// topSource is what belay top shows, and does.
type topSource struct {
	state  *state.State
	ledger top.Ledger

	mu       sync.Mutex
	left     []supervise.Record
	leftErr  error
	looked   time.Time // when left was last looked for
	looking  bool
	panicked any
}

func newTopSource() (*topSource, error) {
	s, err := openState()
	if err != nil {
		return nil, err
	}
	return &topSource{state: s, ledger: top.Ledger{Path: s.LogPath()}}, nil
}

// print shows the screen once.
func (t *topSource) print(cmd *cobra.Command) error {
	w := cmd.OutOrStdout()
	t.lookForLeft()
	m := &top.Model{}
	m.Update(t.Snapshot())
	return term.Rows(w, m.Rows(term.Columns(w), 0))
}

// topJSON is a snapshot for programs. Runs, gates and budgets are as belay ps, gates and budget print them. Fields are only ever added.
type topJSON struct {
	Timestamp journal.Time    `json:"timestamp"`
	Runs      []any           `json:"runs"`
	Gates     []overview.Gate `json:"gates"`
	Budgets   []budgetEntry   `json:"budgets"`
	Today     top.Spend       `json:"today"`
}

func (t *topSource) json() (topJSON, error) {
	now := time.Now()
	s := topJSON{Timestamp: journal.Time{Time: now}, Runs: []any{}}
	t.lookForLeft()
	runs, err := t.runs()
	if err != nil {
		return s, err
	}
	detached := detachedRuns(t.state)
	for _, r := range runs {
		s.Runs = append(s.Runs, runJSON(r, detached.has(r.ID)))
	}
	if s.Gates, err = listGates(); err != nil {
		return s, err
	}
	if s.Budgets, err = listBudgets(nil); err != nil {
		return s, err
	}
	if s.Today, err = t.ledger.Today(now); err != nil {
		return s, &failure{err}
	}
	return s, nil
}

// Snapshot implements [top.Source]. A part that cannot be had is left out, and the others are shown.
func (t *topSource) Snapshot() top.Snapshot {
	t.refreshLeft()
	now := time.Now()
	s := top.Snapshot{At: now}
	var trouble []error
	runs, err := t.runs()
	s.Runs, trouble = runs, append(trouble, err)
	gates, err := listGates()
	trouble = append(trouble, err)
	for _, g := range gates {
		s.Gates = append(s.Gates, topGate(g, now))
	}
	budgets, err := listBudgets(nil)
	trouble = append(trouble, err)
	for _, b := range budgets {
		s.Budgets = append(s.Budgets, topBudget(b))
	}
	s.Today, err = t.ledger.Today(now)
	trouble = append(trouble, err)
	if err := errors.Join(trouble...); err != nil {
		s.Trouble, _ = sentence(err)
	}
	return s
}

// runs are those under way and what killed ones have left, as far as that is known.
func (t *topSource) runs() ([]supervise.Record, error) {
	runs, err := listRuns(t.state.Records())
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
	_, left, err := leftBehind(t.state)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left, t.leftErr, t.looked, t.looking = left, err, time.Now(), false
}

func topGate(g overview.Gate, now time.Time) top.Gate {
	shown := top.Gate{Key: g.Key, Full: g.Full}
	shown.State, shown.Since, shown.Until, shown.Reason = overview.Columns(g.State, now)
	shown.Closed = g.Closed(now)
	if g.Full {
		shown.State, shown.Reason = "full", overview.AllTaken()
	}
	for _, w := range g.Waiting {
		shown.Waiting = append(shown.Waiting, fmt.Sprintf("%s (%s)", shortID(w.ID), w.Command))
	}
	return shown
}

func topBudget(e budgetEntry) top.Budget {
	b := top.Budget{Name: e.Name, Spent: e.Spent, Unknown: e.Unknown, Window: string(e.Window), Closed: e.Closed, Warning: e.Warning}
	if e.Limit != nil {
		b.Limit, b.Left = *e.Limit, *e.Left
	}
	if e.Ends != nil {
		b.Ends = e.Ends.Time
	}
	return b
}

// Lines implements [top.Source].
func (t *topSource) Lines(r supervise.Record) []journal.Entry { return t.state.Lines(r) }

// Do implements [top.Source].
func (t *topSource) Do(a top.Action) string {
	text, err := t.do(a)
	if err != nil {
		text, _ = sentence(err)
	}
	return text
}

func (t *topSource) do(a top.Action) (string, error) {
	switch a.Kind {
	case top.Cancel:
		text, err := cancelRun(a.Run, "belay top")
		if errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH) {
			return fmt.Sprintf("%s (%s) has already ended", shortID(a.Run.ID), a.Run.Command), nil
		}
		return text, err
	case top.Reap:
		ended, err := t.state.Records().ReclaimAll()
		t.lookForLeft()
		return message.Ended(fmt.Sprint(list(ended))), err
	case top.Reset:
		var said strings.Builder
		err := setGate(&said, manualChange{"gate_reset", a.Gate, time.Time{}, ""}, func(s gate.State, now time.Time) gate.State { return s.Reset(now) })
		if said.Len() > 0 { // the change could not be put on record
			return strings.TrimSpace(said.String()), err
		}
		return message.GateReset(a.Gate), err
	}
	return "", nil
}
