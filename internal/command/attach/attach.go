// Package attach is belay attach: it shows the output of a detached run, and ends with its exit code.
package attach

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/detach"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/spool"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/stdio"
)

// New makes belay attach.
func New() *cobra.Command {
	return &cobra.Command{
		Use:   "attach ID",
		Short: "Show the output of a detached run, and exit with its exit code",
		Example: `Find the id of a detached run, and show its output:
  belay ps
  belay attach 1f0c9a3e
Start a run, and wait for it in a script:
  belay attach $(belay run --detach --quiet -- make release)`,
		Long: `Prints the output of a run of belay run --detach or belay batch --detach: all that there is so far, then what is new, until the run ends. The exit code is that of the
run. Ctrl-C leaves, and the run continues. An ID is the whole id, or as much of its beginning or end as is unique.

Once the run has ended and all of its output has been printed, the output is deleted. Output that was never shown is deleted 30 days after the end, or by belay prune. If the
run was killed, attach prints what there is and exits with 137.`,
		ValidArgsFunction: command.Complete(completeDetached),
		Args:              command.Needs(1, 1, "run", "belay attach 1f0c9a3e (belay ps has the ids)"),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return attach(cmd.Context(), command.Streams(cmd), ids[0])
		},
	}
}

// attach is belay attach.
func attach(ctx context.Context, std stdio.Streams, id string) error {
	s, err := command.OpenState()
	if err != nil {
		return err
	}
	h, err := pickDetached(s, id)
	if err != nil {
		return err
	}
	if command.OwnsProcess(ctx) != nil {
		var stop func()
		ctx, stop = untilSignal(ctx)
		defer stop()
	}
	a := detach.NewDelivery(std, s.Spools(), h.ID)
	end, err := a.Follow(ctx)
	if interrupted, ok := errors.AsType[*belaytype.Interrupt](err); ok {
		if interrupted.Signal == int(syscall.SIGINT) {
			command.Say(std.Err, fmt.Sprintf("the run continues. To see it again: belay attach %s", printable.ShortID(h.ID)))
		}
		return command.Exit(128 + interrupted.Signal)
	}
	if err != nil {
		return err
	}
	code := end.ExitCode
	if end.Killed() {
		s.ReportKilled() // as belay ps does
		command.Say(std.Err, message.WasKilled(printable.ShortID(h.ID), h.Command))
		code = 128 + int(syscall.SIGKILL)
	}
	if lost := end.LostStdout + end.LostStderr; lost > 0 {
		command.Say(std.Err, fmt.Sprintf("%s of its output could not be kept: %s", message.Count(int(lost), "byte"), end.Trouble))
		if code == 0 && end.LostStdout > 0 {
			code = engine.CodeFailed
		}
	}
	return command.Exit(code)
}

// pickDetached finds the one detached run that an id means.
func pickDetached(s *state.State, id string) (spool.Header, error) {
	headers, err := s.Spools().List()
	if err != nil {
		return spool.Header{}, command.Fail(err)
	}
	found, err := command.Pick(headers, id, func(h spool.Header) string { return h.ID })
	if err == nil {
		return found, nil
	}
	if runs, lerr := command.Runs(s.Records()); lerr == nil {
		if r, perr := command.PickRun(runs, id); perr == nil {
			return spool.Header{}, command.Usage(message.Error(fmt.Sprintf("%s (%s) is not detached; its output is where it was started", printable.ShortID(r.ID), r.Command)), "")
		}
	}
	if text := shownText(s, id); text != "" {
		err = command.Usage(message.Error(text), "")
	}
	return spool.Header{}, err
}

// lookBack is how much of the log is looked at for a run that has ended.
const lookBack = 16 << 20

// shownText says of a run on record that its output is not kept; empty if there is none of that id.
func shownText(s *state.State, id string) (text string) {
	s.Recent(lookBack, func(e journal.Entry) {
		if e.Kind == "" && printable.IsPart(id, e.Invocation) {
			short := printable.ShortID(e.Invocation)
			text = message.Sentences(fmt.Sprintf("the output of %s (%s) is not kept: it was shown already, or the run was not detached", short, e.Command), "see how it ended: belay log "+short)
		}
	})
	return text
}

// untilSignal is a context that ends when a signal asks us to.
func untilSignal(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case got := <-caught:
			if sig, ok := got.(syscall.Signal); ok {
				cancel(command.Interrupt(sig))
			}
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(caught); cancel(nil) }
}

// completeDetached are the detached runs.
func completeDetached() (list []string) {
	s, err := command.OpenState()
	if err != nil {
		return nil
	}
	headers, _ := s.Spools().List()
	for _, h := range headers {
		list = append(list, command.DescribeRun(h.ID, h.Command))
	}
	return list
}
