// Package handover makes the commands that belayd carries out, of the table that both executables read.
package handover

import (
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/printable"
)

// completePast are the last runs of the log, the newest first. It is read here, without belayd: a shell asks at every key.
func completePast() (list []string) {
	s, err := command.OpenState()
	if err != nil {
		return nil
	}
	var recent []journal.Entry
	s.Recent(32<<10, func(e journal.Entry) { recent = append(recent, e) })
	seen := map[string]bool{}
	for _, e := range slices.Backward(recent) {
		if e.Kind != "" || e.Invocation == "" || seen[e.Invocation] {
			continue
		}
		seen[e.Invocation] = true
		list = append(list, cobra.CompletionWithDesc(printable.Line(printable.ShortID(e.Invocation)), printable.Line(e.Command)+", "+e.Timestamp.Local().Format("15:04:05")))
	}
	return list
}

// Commands are the commands that belayd carries out. belayd knows what they mean; here they have their names, flags
// and help, from the table that both share.
func Commands() (list []*cobra.Command) {
	parents := map[string]*cobra.Command{}
	for _, c := range belayd.Commands() {
		var cmd *cobra.Command
		switch {
		case c.Hidden:
			continue
		case c.Name == belayd.Rehearse:
			cmd = newRehearse(c)
		case c.Parent:
			cmd = &cobra.Command{Use: c.Use, Short: c.Summary, Example: c.Examples, Long: c.Long, Args: command.NoArgs, RunE: command.OnlyHelp} // only shows what is below it
		default:
			cmd = newHandedOver(c)
		}
		cmd.Hidden = c.Unlisted
		parents[c.Name] = cmd
		if at := strings.LastIndex(c.Name, " "); at > 0 {
			parents[c.Name[:at]].AddCommand(cmd)
		} else {
			list = append(list, cmd)
		}
	}
	return list
}

// newHandedOver makes a command that passes the flags that were given, and the arguments, on to belayd.
func newHandedOver(c belayd.Command) *cobra.Command {
	cmd := &cobra.Command{Use: c.Use, Short: c.Summary, Example: c.Examples, Long: c.Long, Args: command.NoArgs}
	if c.Args.What != "" {
		most := 1
		if c.Args.Several {
			most = math.MaxInt
		}
		cmd.Args = command.Needs(0, most, c.Args.What, c.Args.Example)
	}
	if c.Args.What == "run" {
		cmd.ValidArgsFunction = command.Complete(completePast)
	}
	addFlags(cmd, c)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.HandOver(cmd.Context(), command.Streams(cmd), c.Name, append(append(givenFlags(cmd, c), "--"), args...)...)
	}
	return cmd
}
