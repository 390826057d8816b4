package handover

import (
	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/message"
)

// newRehearse makes belay rehearse, which has the flags of belay run too.
func newRehearse(c belayd.Command) *cobra.Command {
	cmd := &cobra.Command{Use: c.Use, Short: c.Summary, Example: c.Examples, Long: c.Long}
	given := command.AddSettings(cmd, func(s *config.Setting) bool { return s.Name != "dry-run" })
	cmd.Flags().SetInterspersed(false)
	addFlags(cmd, c)
	cmd.ValidArgsFunction = command.CompleteByShell
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		value := func(name string) string { return cmd.Flags().Lookup(name).Value.String() }
		switch {
		case len(args) == 0:
			return command.Usage(message.Error(message.NoCommand()), message.AsIn(c.Args.Example))
		case (value("script") == "") == (value("script-file") == ""):
			return command.Usage(message.Error("give either --script or --script-file"), message.AsIn(c.Args.Example))
		}
		// The settings were checked when they were parsed; here they are only passed on.
		passed := append(givenFlags(cmd, c), "--result-file="+given["result-file"])
		passed = append(passed, "--")
		for i := range config.Table {
			if value, ok := given[config.Table[i].Name]; ok {
				passed = append(passed, "--"+config.Table[i].Name+"="+value)
			}
		}
		return command.HandOver(cmd.Context(), command.Streams(cmd), c.Name, append(append(passed, "--"), args...)...)
	}
	return cmd
}
