package batch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/term"
)

func newBatchStatus() *cobra.Command {
	var asJSON, follow bool
	cmd := &cobra.Command{
		Use:   "status RESULTS",
		Short: "Show how far a batch is",
		Example: `Show how far a batch is, which tasks run and what has failed:
  belay batch status answers.jsonl
Watch it until it ends:
  belay batch status --follow answers.jsonl
Use it in a script:
  belay batch status --json answers.jsonl`,
		Long: `Shows how a batch stands, from any terminal: while it runs, what its tasks do now; otherwise what its results say.

--follow shows it until the batch ends: on a terminal as one line that is redrawn, elsewhere as a line a minute. With --json there is an object every two
seconds.`,
		Args: oneResults,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "keep showing it until the batch ends")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		std := command.Streams(cmd)
		st, err := batch.ReadStatus(args[0])
		if err == nil && follow && st.Holder != nil {
			st, err = followBatch(cmd.Context(), std, st, args[0], asJSON)
		}
		if isUnread(err) {
			return unreadableResults(args[0], err)
		}
		switch {
		case err != nil:
			return err
		case st.Holder == nil && st.Total == 0:
			return command.Usage(message.Error(fmt.Sprintf("%s has no results", args[0])), "")
		}
		return showBatchStatus(std, st, asJSON)
	}
	return cmd
}

// followBatch shows how a batch stands until it ends, and returns how it stands then.
func followBatch(ctx context.Context, std stdio.Streams, st *batch.Status, path string, asJSON bool) (*batch.Status, error) {
	var newest atomic.Pointer[batch.Status]
	newest.Store(st)
	if !asJSON {
		screen := term.New(std.Err).Beside(std.Out)
		defer screen.Status(func(columns int) string { return liveLine(newest.Load().Progress, columns) }, func() string { return batchLine{Progress: newest.Load().Progress}.String() })()
	}
	for st.Holder != nil {
		if asJSON {
			if err := showBatchStatus(std, st, true); err != nil {
				return nil, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(statusInterval):
		}
		var err error
		if st, err = batch.ReadStatus(path); err != nil {
			return nil, err
		}
		newest.Store(st)
	}
	return st, nil
}

func showBatchStatus(std stdio.Streams, st *batch.Status, asJSON bool) error {
	w := std.Out
	limits := []overview.Limit{}
	if s, err := command.OpenState(); err == nil {
		_, limits, _ = overview.Gates(s) // without them, the batch is still shown
	}
	if asJSON {
		return term.JSON(w, struct {
			*batch.Status
			Limits []overview.Limit `json:"limits"`
		}{st, limits})
	}
	if st.Holder != nil {
		term.Line(w, fmt.Sprintf("running: process %d on %s, started %s", st.Holder.PID, st.Holder.Host, st.Holder.Started.Local().Format("2006-01-02 15:04:05")))
	} else {
		term.Line(w, "not running")
	}
	term.Line(w, batchLine{Progress: st.Progress}.String())
	overview.SayLimits(w, limits)
	var rows [][]term.Piece
	for _, t := range st.Tasks {
		doing := t.Doing
		if !t.Until.IsZero() {
			doing = "waiting for a limit until " + message.When(t.Until)
		}
		rows = append(rows, term.Cells(message.BatchTask(t.Task, t.Line), term.Span(time.Since(t.Since)), doing))
	}
	if len(rows) > 0 {
		term.Line(w, "")
		if err := term.Table(w, runningTable, rows); err != nil {
			return err
		}
	}
	if len(st.Failures) == 0 {
		return nil
	}
	term.Line(w, "")
	return failuresTable(w, st.Failures)
}

func newBatchResults() *cobra.Command {
	var failed bool
	cmd := &cobra.Command{
		Use:   "results RESULTS",
		Short: "Print the results of a batch in the order of its tasks",
		Example: `Print the last result of each task, in the order of the tasks:
  belay batch results answers.jsonl
Print the answers alone:
  belay batch results answers.jsonl | jq -r .result
Print what has failed:
  belay batch results --failed answers.jsonl`,
		Long: `Prints the last result of each task, one line of JSON each, in the order in which the tasks were given.`,
		Args: oneResults,
	}
	cmd.Flags().BoolVar(&failed, "failed", false, "print only tasks that have failed")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		err := batch.WriteResults(args[0], failed, cmd.OutOrStdout())
		if isUnread(err) {
			return unreadableResults(args[0], err)
		}
		return err
	}
	return cmd
}

// oneResults checks that there is one file of results.
func oneResults(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return command.Usage(message.Error("expected one results file"), message.AsIn(cmd.CommandPath()+" results.jsonl"))
	}
	return nil
}

// isUnread reports whether an error says that a file cannot be read.
func isUnread(err error) bool {
	_, isPath := errors.AsType[*fs.PathError](err)
	_, isRefused := errors.AsType[*safefile.Error](err)
	return isPath || isRefused
}

func unreadableResults(path string, err error) error {
	return command.Usage(message.Error(fmt.Sprintf("cannot read results from %s: %v", path, pathless(err)), err), "")
}

// runningTable are the tasks of a batch that run.
var runningTable = []term.Column{{Heading: "TASK", Kind: term.Path, Min: 12}, {Heading: "ELAPSED", Kind: term.Number}, {Heading: "ACTIVITY", Kind: term.Note}}
