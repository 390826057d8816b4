package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

func newGates() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "gates",
		Short: "Show and change the gates that processes share",
		Example: `Run through a gate that all processes with the same key share:
  belay run --gate api --max-parallel 4 -- ./sync.sh
Show the gates that are closed or on hold:
  belay gates
Make a gate healthy again:
  belay gates reset api
Let nothing start for two hours:
  belay gates hold api --until 2h --reason maintenance`,
		Long: `A gate is what all processes that use the same key know about one limit. Agents and gh have a gate for each account or host by themselves;
any other command gets one with --gate KEY. A gate has four parts:

  hold         nothing starts before a time, because a call was throttled or
               because you said so
  slow start   after a hold, one call at a time, then more with each success
  breaker      after 5 failed runs in a row nothing starts for a minute, then
               one probe at a time finds out whether the service is back
  slots        at most --max-parallel runs at a time

A run waits at a closed gate for as long as --max-wait allows, and says so; otherwise it exits with 75 and the time to try again. A gate that is not listed here
is healthy. Details: docs/gate.md`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return showGates(cmd.OutOrStdout(), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object per line")
	cmd.AddCommand(newGatesReset(), newGatesHold(), newGatesOpen(), newGatesWatch())
	return cmd
}

func newGatesWatch() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Show the gates again at every change",
		Example: `Watch the gates until Ctrl-C:
  belay gates watch
Use it in a script:
  belay gates watch --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			last := ""
			for {
				gates, err := listGates()
				if err != nil {
					return err
				}
				// What only counts down is no change.
				data, err := json.Marshal(gates)
				if err != nil {
					return &failure{err}
				}
				if string(data) != last {
					last = string(data)
					if err := showChange(cmd.OutOrStdout(), gates, asJSON); err != nil {
						return err
					}
				}
				select {
				case <-cmd.Context().Done():
					return exit(codeStopped)
				case <-time.After(500 * time.Millisecond):
				}
			}
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object per change")
	return cmd
}

func showChange(w io.Writer, gates []gateEntry, asJSON bool) error {
	now := time.Now()
	if asJSON {
		return term.JSON(w, struct {
			Timestamp time.Time   `json:"timestamp"`
			Gates     []gateEntry `json:"gates"`
		}{now.UTC(), gates})
	}
	var b strings.Builder
	if err := writeGates(&b, gates); err != nil {
		return err
	}
	return term.Text(w, now.Format("15:04:05")+"\n"+b.String()+"\n")
}

// gateStore is where the gates are kept.
func gateStore() (*gate.Files, error) {
	dir, err := state.DefaultDir()
	if err != nil {
		return nil, &failure{err}
	}
	return (&state.State{Dir: dir}).Gates(), nil
}

// gateEntry is a gate and the runs that wait at it.
type gateEntry struct {
	gate.Entry
	Waiting []waiter `json:"waiting"`
	// Full says that it is healthy and all its slots are taken.
	Full bool `json:"full,omitempty"`
}

// waiter is a run that waits.
type waiter struct {
	ID      string `json:"id"`
	PID     int    `json:"pid"`
	Command string `json:"command"`
}

// listGates returns the gates that are not healthy; never nil.
func listGates() ([]gateEntry, error) {
	store, err := gateStore()
	if err != nil {
		return nil, err
	}
	entries, err := store.List()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, &failure{err}
	}
	now := time.Now()
	gates := []gateEntry{}
	for _, e := range entries {
		if !e.State.Healthy(now) {
			gates = append(gates, gateEntry{Entry: e, Waiting: []waiter{}})
		}
	}
	return addWaiters(gates), nil
}

// addWaiters adds the runs that wait, also for a slot of a gate that is healthy. If they cannot be found, the gates are
// still shown.
func addWaiters(gates []gateEntry) []gateEntry {
	records, err := openRecords()
	if err != nil {
		return gates
	}
	runs, _ := listRuns(records)
	for _, r := range runs {
		reason, atGate := strings.CutPrefix(r.Reason, "gate ")
		if r.State != supervise.StateWaiting || !atGate {
			continue
		}
		at := slices.IndexFunc(gates, func(g gateEntry) bool { return strings.HasPrefix(reason, g.Key+":") })
		if key, _, full := strings.Cut(reason, ": "+allTaken()); at < 0 && full {
			at = len(gates)
			gates = append(gates, gateEntry{Entry: gate.Entry{Key: key}, Full: true})
		}
		if at >= 0 {
			gates[at].Waiting = append(gates[at].Waiting, waiter{r.ID, r.Owner.PID, r.Command})
		}
	}
	return gates
}

// allTaken is how a gate says that it has no slot left.
func allTaken() string { return engine.Describe(gate.Refusal{Kind: gate.KindSlots}) }

func showGates(w io.Writer, asJSON bool) error {
	gates, err := listGates()
	if err != nil {
		return err
	}
	if asJSON {
		return term.JSONLines(w, gates)
	}
	return writeGates(w, gates)
}

func writeGates(w io.Writer, gates []gateEntry) error {
	if len(gates) == 0 {
		return term.Printf(w, "%s\n", message.GatesHealthy())
	}
	var rows [][]string
	now := time.Now()
	for _, e := range gates {
		state, since, until, reason := gateColumns(e.State, now)
		if e.Full {
			state, reason = "full", allTaken()
		}
		rows = append(rows, []string{e.Key, state, clock(since), clock(until), fmt.Sprint(len(e.Waiting)), reason})
	}
	return term.Table(w, gateTable, rows)
}

// gateColumns is what keeps callers out of a gate at now, or did so last. A hold and the breaker may do so both.
func gateColumns(s gate.State, now time.Time) (state string, since, until time.Time, reason string) {
	held, b := s.Hold.Live(now), s.Breaker
	switch {
	case held && b.Phase != breaker.Closed:
		if until = now.Add(s.Hold.Left(now)); b.Until.IsZero() || b.Until.After(until) {
			until = b.Until
		}
		return "held, breaker " + b.At(breaker.Settings{}, now).String(), s.Hold.Since, until, s.Hold.Reason + "; " + b.Reason
	case held:
		return "held", s.Hold.Since, now.Add(s.Hold.Left(now)), s.Hold.Reason
	case b.Phase != breaker.Closed:
		return b.At(breaker.Settings{}, now).String(), b.Since, b.Until, b.Reason
	case s.Ramp.Live(now):
		return message.SlowStartState(s.Ramp.Allowed), s.Hold.Since, time.Time{}, s.Hold.Reason
	case b.Failures > 0:
		return message.ClosedState(b.Failures), b.Since, time.Time{}, b.Reason
	}
	return "closed", time.Time{}, time.Time{}, ""
}

func clock(t time.Time) string {
	switch {
	case t.IsZero():
		return "–"
	case time.Until(t) > 20*time.Hour || time.Since(t) > 20*time.Hour:
		return t.Local().Format("2006-01-02 15:04")
	}
	return t.Local().Format("15:04:05")
}

func shortIDs(ids []string) []string {
	var short []string
	for _, id := range ids {
		short = append(short, shortID(id))
	}
	return short
}
