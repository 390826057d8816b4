package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/supervise"
)

func newGates() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "gates",
		Short: "Show and set the gates that processes share",
		Example: `  belay gates
  belay gates watch
  belay gates reset api
  belay gates hold api --until 2h --reason 'maintenance'
  belay gates open api`,
		Long: `A gate is what all processes that name the same key know of a limit: a hold ("nobody starts
before T"), a circuit breaker, a slow start. A gate that is not listed is healthy.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return showGates(cmd.OutOrStdout(), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON, one object a line")
	cmd.AddCommand(newGatesReset(), newGatesHold(), newGatesOpen(), newGatesWatch())
	return cmd
}

func newGatesWatch() *cobra.Command {
	return &cobra.Command{
		Use:     "watch",
		Short:   "Show the gates, again at every change",
		Example: "  belay gates watch",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			last := ""
			for {
				var b strings.Builder
				if err := showGates(&b, false); err != nil {
					return err
				}
				// What only counts down is no change.
				entries, _ := listGates()
				data, _ := json.Marshal(entries)
				if string(data) != last {
					last = string(data)
					fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s\n", time.Now().Format("15:04:05"), b.String())
				}
				time.Sleep(500 * time.Millisecond)
			}
		},
	}
}

// gateStore is where the gates are kept.
func gateStore() (*gate.Files, error) {
	dir, err := belay.DefaultStateDir()
	if err != nil {
		return nil, &failure{err}
	}
	return (&belay.State{Dir: dir}).Gates(), nil
}

// listGates returns the gates that are not healthy.
func listGates() ([]gate.Entry, error) {
	store, err := gateStore()
	if err != nil {
		return nil, err
	}
	entries, err := store.List()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, &failure{err}
	}
	now := time.Now()
	return slices.DeleteFunc(entries, func(e gate.Entry) bool { return e.State.Healthy(now) }), nil
}

func showGates(w io.Writer, asJSON bool) error {
	entries, err := listGates()
	if err != nil {
		return err
	}
	if asJSON {
		return writeJSONLines(w, entries)
	}
	if len(entries) == 0 {
		fmt.Fprintln(w, "all gates are healthy")
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "GATE\tSTATE\tSINCE\tUNTIL\tWAITING\tREASON")
	now := time.Now()
	for _, e := range entries {
		state, since, until, reason := gateColumns(e.State, now)
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%s\n", e.Key, state, clock(since), clock(until), waiting(e.Key), reason)
	}
	return t.Flush()
}

// gateColumns is what keeps callers out of a gate at now, or did so last.
func gateColumns(s gate.State, now time.Time) (state string, since, until time.Time, reason string) {
	switch {
	case s.Hold.Live(now):
		return "held", s.Hold.Since, now.Add(s.Hold.Left(now)), s.Hold.Reason
	case s.Breaker.Phase != breaker.Closed:
		return s.Breaker.At(breaker.Settings{}, now).String(), s.Breaker.Since, s.Breaker.Until, s.Breaker.Reason
	case s.Ramp.Live(now):
		return fmt.Sprintf("slow start, %d at a time", s.Ramp.Allowed), s.Hold.Since, time.Time{}, s.Hold.Reason
	case s.Breaker.Failures > 0:
		return fmt.Sprintf("closed, %d failures", s.Breaker.Failures), s.Breaker.Since, time.Time{}, s.Breaker.Reason
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

// waiting counts the runs that wait at a gate.
func waiting(key string) int {
	records, err := openRecords()
	if err != nil {
		return 0
	}
	runs, _ := records.List()
	n := 0
	for _, r := range runs {
		if r.State == supervise.StateWaiting && strings.HasPrefix(r.Reason, "gate "+key+":") {
			n++
		}
	}
	return n
}

// gateText says in words why a gate refuses, and how long.
func gateText(r gate.Refusal) string {
	text := belay.Describe(r)
	if !r.Until.IsZero() {
		text += fmt.Sprintf(" (%s left)", term.Span(max(0, time.Until(r.Until))))
	}
	return text
}

func shortIDs(ids []string) []string {
	var short []string
	for _, id := range ids {
		short = append(short, shortID(id))
	}
	return short
}
