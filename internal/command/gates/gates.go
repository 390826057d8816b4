// Package gates is belay gates: how gates stand, and how they are changed by hand.
package gates

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/term"
)

// New makes belay gates.
func New() *cobra.Command {
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
  belay gates hold api --until 2h --reason maintenance
Show the gates of a fleet, and on which machines runs wait:
  belay gates --fleet`,
		Long: `A gate is what all processes that use the same key know about one limit. Agents and gh have a gate for each account or host by themselves;
any other command gets one with --gate KEY. A gate has four parts:

  hold         nothing starts before a time, because a call was throttled or
               because you said so
  slow start   after a hold, one call at a time, then more with each success
  breaker      after 5 failed runs in a row nothing starts for a minute, then
               one probe at a time finds out whether the service is back
  slots        at most --max-parallel runs at a time

A run waits at a closed gate for as long as --max-wait allows, and says so; otherwise it exits with 75 and the time to try again. A gate that is not listed here
is healthy. Details: https://github.com/belay-run/belay/blob/main/docs/gate.md`,
		Args: command.NoArgs,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object per line")
	fleet := command.AddFleetFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if handed, err := fleet.HandOver(cmd, belayd.FleetGates, asJSON); handed {
			return err
		}
		gates, err := command.Gates()
		if err != nil {
			return err
		}
		if asJSON {
			return term.JSONLines(cmd.OutOrStdout(), gates)
		}
		return writeGates(cmd.OutOrStdout(), gates)
	}
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
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			last := ""
			for {
				gates, err := command.Gates()
				if err != nil {
					return err
				}
				// What only counts down is no change.
				data, err := json.Marshal(gates)
				if err != nil {
					return command.Fail(err)
				}
				if string(data) != last {
					last = string(data)
					if err := showChange(cmd.OutOrStdout(), gates, asJSON); err != nil {
						return err
					}
				}
				select {
				case <-cmd.Context().Done():
					return command.Exit(command.CodeStopped)
				case <-time.After(500 * time.Millisecond):
				}
			}
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object per change")
	return cmd
}

func showChange(w io.Writer, gates []overview.Gate, asJSON bool) error {
	now := time.Now()
	if asJSON {
		return term.JSON(w, struct {
			Timestamp time.Time       `json:"timestamp"`
			Gates     []overview.Gate `json:"gates"`
		}{now.UTC(), gates})
	}
	var b strings.Builder
	if err := writeGates(&b, gates); err != nil {
		return err
	}
	return term.Text(w, now.Format("15:04:05")+"\n"+b.String()+"\n")
}
