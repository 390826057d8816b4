// Package profile is belay profile: the CLIs that are known, and how a profile does on saved outcomes.
package profile

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/term"
)

var profileTable = []term.Column{{Heading: "PROFILE", Min: 10}, {Heading: "COMMAND", Min: 10}, {Heading: "TESTED", Drop: 1}, {Heading: "FROM", Kind: term.Path, Min: 16}}

// New makes belay profile.
func New() *cobra.Command {
	cmd := &cobra.Command{Use: "profile COMMAND", DisableFlagsInUseLine: true, Short: "Show profiles, and try them on saved outcomes",
		Example: `Show which CLIs Belay knows:
  belay profile list
Try a profile of your own on saved outcomes:
  belay profile check qwen outcomes.jsonl`,
		Long: `A profile is what Belay knows of one CLI: how it is given its prompt, what its events and errors mean, how it is stopped and resumed. Those of the agents above
are built in. A table [profile.NAME] in your config.toml declares one for any other CLI.

Details: https://github.com/belay-run/belay/blob/main/docs/profiles.md`, Args: command.NoArgs, RunE: command.OnlyHelp}
	cmd.AddCommand(newProfileList(), newProfileCheck())
	return cmd
}

// profileRow is a profile as it is listed.
type profileRow struct {
	Name     string   `json:"name"`
	Commands []string `json:"commands"`
	Tested   []string `json:"tested,omitempty"`
	From     string   `json:"from"`
}

func newProfileList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show which CLIs Belay knows",
		Example: `Show all profiles:
  belay profile list`,
		Long: `Shows the profiles that are built in and those that your config.toml declares, with the commands that they are for and the versions that they were tested with.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := config.ReadUser(); err != nil {
				return command.Usage(err, "")
			}
			var rows []profileRow
			for _, d := range profile.All() {
				r := profileRow{Name: d.Name, Commands: d.Commands, Tested: d.Tested, From: config.UserFile()}
				if profile.IsBuiltIn(d.Name) {
					r.Commands, r.From = []string{d.Name}, "built in"
				}
				rows = append(rows, r)
			}
			for _, name := range profile.Shipped() {
				rows = append(rows, profileRow{Name: name, Commands: []string{name}, Tested: profile.Find(name).Tested, From: "built in, as data"})
			}
			if asJSON {
				return term.JSONLines(cmd.OutOrStdout(), rows)
			}
			var table [][]term.Piece
			for _, r := range rows {
				table = append(table, term.Cells(r.Name, strings.Join(r.Commands, ", "), cmp.Or(strings.Join(r.Tested, ", "), "none"), r.From))
			}
			return term.Table(cmd.OutOrStdout(), profileTable, table)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object per line")
	return cmd
}
