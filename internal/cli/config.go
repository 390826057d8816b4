package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent/generic"
	"github.com/belay-run/belay/internal/config"
)

func newConfig() *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Show the settings and where they come from",
		Example: "  belay config show", Args: noArgs, RunE: onlyHelp}
	var asJSON bool
	show := &cobra.Command{
		Use:     "show",
		Short:   "Show each setting that has a value, and where it comes from",
		Example: "  belay config show\n  BELAY_MAX_RETRIES=5 belay config show --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			shown, err := config.Show(generic.Name)
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			if asJSON {
				return json.NewEncoder(w).Encode(shown)
			}
			t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
			fmt.Fprintln(t, "SETTING\tVALUE\tFROM")
			for _, s := range shown {
				fmt.Fprintf(t, "%s\t%s\t%s\n", s.Name, s.Value, s.From)
			}
			if err := t.Flush(); err != nil {
				return err
			}
			if dir, err := belay.DefaultStateDir(); err == nil {
				fmt.Fprintf(w, "\nstate directory: %s\n", dir)
			}
			for _, path := range config.Files(".") {
				there := "not there"
				if _, err := os.Stat(path); err == nil {
					there = "read"
				}
				fmt.Fprintf(w, "file: %s (%s)\n", path, there)
			}
			return nil
		},
	}
	show.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	cmd.AddCommand(show)
	return cmd
}
