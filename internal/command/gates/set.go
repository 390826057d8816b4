package gates

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/gate"
	timeofday "github.com/belay-run/belay/internal/clock"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/term"
)

// completeGates are the gates that are not healthy.
func completeGates() (list []string) {
	gates, _ := command.Gates()
	for _, g := range gates {
		list = append(list, printable.Line(g.Key))
	}
	return list
}

func newGatesReset() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:               "reset KEY…",
		ValidArgsFunction: command.Complete(completeGates),
		Short:             "Make gates healthy again",
		Example: `Reset one gate:
  belay gates reset api
Reset all of them:
  belay gates reset --all`,
		RunE: func(cmd *cobra.Command, keys []string) error {
			if all == (len(keys) > 0) {
				return command.Usage(message.Error("name the gates, or use --all"), message.See("belay gates"))
			}
			s, err := command.OpenState()
			if err != nil {
				return err
			}
			gates, err := s.Gates().List()
			if err != nil {
				return command.Fail(err)
			}
			var known []string
			for _, g := range gates {
				if !g.State.Healthy(timeofday.Now()) { // or it knows of limits, for which runs with a reserve wait
					known = append(known, g.Key)
				}
			}
			if all {
				keys = known
			}
			w := cmd.OutOrStdout()
			if len(keys) == 0 {
				term.Line(w, "nothing to reset: all gates are healthy")
			}
			for _, key := range keys {
				if !slices.Contains(known, key) {
					term.Line(w, message.NotThisGate(key, message.Nearest(key, known), known))
					continue
				}
				if err := setGate(cmd.ErrOrStderr(), overview.Change{Event: "gate_reset", Key: key}, func(s gate.State, now time.Time) gate.State { return s.Reset(now) }); err != nil {
					return err
				}
				term.Line(w, message.GateReset(key))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "reset all gates")
	return cmd
}

func newGatesHold() *cobra.Command {
	until, reason := "", message.SetByHand()
	cmd := &cobra.Command{
		Use:               "hold KEY --until T",
		ValidArgsFunction: command.Complete(completeGates),
		Short:             "Let nothing start before a time",
		Example: `Hold for half an hour:
  belay gates hold api --until 30m
Hold until a time of day:
  belay gates hold api --until 18:00
Hold until a date, and say why:
  belay gates hold api --until 2026-11-20T08:00:00Z --reason maintenance`,
		Args: command.Needs(1, 1, "gate", "belay gates hold api --until 30m"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if until == "" {
				return command.Usage(message.Error("--until is missing"), message.AsIn("belay gates hold "+args[0]+" --until 30m"))
			}
			t, err := command.ParseUntil("--until", until, timeofday.Now())
			if err != nil {
				return command.Usage(err, "")
			}
			err = setGate(cmd.ErrOrStderr(), overview.Change{Event: "gate_hold", Key: args[0], Until: t, Reason: reason}, func(s gate.State, now time.Time) gate.State { return s.Held(now, t, reason) })
			if err == nil {
				term.Line(cmd.OutOrStdout(), message.GateHolds(args[0], t))
			}
			return err
		},
	}
	command.AddText(cmd.Flags(), &until, "until", "T", "when it ends: a duration (30m), a time of day (18:00) or RFC 3339")
	command.AddText(cmd.Flags(), &reason, "reason", "TEXT", "the reason to show to those who wait")
	return cmd
}

func newGatesOpen() *cobra.Command {
	until, reason := "", "opened by hand"
	cmd := &cobra.Command{
		Use:               "open KEY",
		ValidArgsFunction: command.Complete(completeGates),
		Short:             "Open the circuit breaker, so that nothing starts",
		Example: `Refuse all runs until a reset:
  belay gates open api
Refuse them for an hour:
  belay gates open api --until 1h`,
		Args: command.Needs(1, 1, "gate", "belay gates open api"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var t time.Time
			if until != "" {
				var err error
				if t, err = command.ParseUntil("--until", until, timeofday.Now()); err != nil {
					return command.Usage(err, "")
				}
			}
			err := setGate(cmd.ErrOrStderr(), overview.Change{Event: "gate_open", Key: args[0], Until: t, Reason: reason}, func(s gate.State, now time.Time) gate.State { return s.Opened(now, t, reason) })
			if err == nil {
				term.Line(cmd.OutOrStdout(), message.Sentences(fmt.Sprintf("the breaker of gate %s is open", args[0]), "to close it: "+printable.LiftCommand(args[0])))
			}
			return err
		},
	}
	command.AddText(cmd.Flags(), &until, "until", "T", "when it ends: a duration (30m), a time of day (18:00) or RFC 3339 (default: with a reset)")
	command.AddText(cmd.Flags(), &reason, "reason", "TEXT", "the reason to show to those who wait")
	return cmd
}

// SayUnrecorded warns of a change that a person has made and that could not be put on record.
func SayUnrecorded(w io.Writer, err error) {
	if err != nil {
		command.Say(w, message.ChangeUnrecorded(err))
	}
}

// setGate changes a gate by hand. What is to be said besides goes to w.
func setGate(w io.Writer, c overview.Change, change func(gate.State, time.Time) gate.State) error {
	if err := overview.CheckKey(c.Key); err != nil {
		return command.Usage(err, message.See("belay gates"))
	}
	state, err := state.Open("")
	if err != nil {
		return command.Fail(err)
	}
	unrecorded, err := overview.SetGate(state, c, change)
	SayUnrecorded(w, unrecorded)
	return command.Fail(err)
}
