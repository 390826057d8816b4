// Package config is belay config: the settings, and where they come from.
package config

import (
	"cmp"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/setup"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/term"
)

var settingTable = []term.Column{{Heading: "SETTING", Min: 20}, {Heading: "VALUE", Min: 24}, {Heading: "FROM", Kind: term.Path, Min: 16, Style: term.Faint}}

// New makes belay config.
func New() *cobra.Command {
	cmd := &cobra.Command{Use: "config COMMAND", DisableFlagsInUseLine: true, Short: "Show the settings and where they come from",
		Example: `Show each setting that has a value, and where it comes from:
  belay config show
Find mistakes in your settings:
  belay config check`,
		Long: `Most flags of belay run are settings, which can be given in up to four places. The first one that has it wins:

  1. a flag                      --max-retries 3
  2. the environment             BELAY_MAX_RETRIES=3
  3. the project's .belay.toml   max_retries = 3
  4. ~/.config/belay/config.toml max_retries = 3

The project's file is the nearest one up to the root of the repository. It can lower limits and slow down, and nothing more, because a repository that you have
cloned is not to be trusted. In your own config.toml a table [profile.claude] is for one CLI only; rules, prices, budgets and alerts are there too.

For the variables, see belay help environment. Details: https://github.com/belay-run/belay/blob/main/docs/configuration.md`, Args: command.NoArgs, RunE: command.OnlyHelp}
	var asJSON bool
	var profile string
	show := &cobra.Command{
		Use:   "show",
		Short: "Show each setting that has a value, and where it comes from",
		Example: `Show what is set for all commands:
  belay config show
Show what applies to claude:
  belay config show --profile claude
Try a variable:
  BELAY_MAX_RETRIES=5 belay config show`,
		Long: `Shows what is set in the environment and in files, including rules and alerts, and which files were read. With --profile it shows what applies
to commands of that CLI, including its preset. What a project's .belay.toml may not set is listed as ignored, with the reason.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			shown, err := config.Show(profile)
			if err != nil {
				return command.Usage(err, "")
			}
			shown = append(shown, gateHold(profile)...)
			if asJSON {
				return term.JSON(cmd.OutOrStdout(), append(append([]config.Shown{}, shown...), places()...))
			}
			return writeConfig(cmd.OutOrStdout(), shown)
		},
	}
	command.AddText(show.Flags(), &profile, "profile", "NAME", "show what applies to commands of this profile")
	show.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(show, newCheck())
	return cmd
}

// newCheck is belay config check.
func newCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Find mistakes in the settings",
		Example: `Check the files and the variables, as before a night's work:
  belay config check`,
		Long: `Prints each mistake in your config.toml, in the project's .belay.toml and in the environment, one in a line, and exits with 1 if there is one.

A mistake in your file has no effect on runs, but for a warning once a day. One that concerns a setting that protects, such as a limit, a budget or a check, stops
them, and so does a key that was probably meant to be one.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list := config.Mistakes(".")
			for _, mistake := range list {
				term.Line(cmd.OutOrStdout(), mistake)
			}
			if len(list) > 0 {
				return command.Exit(1)
			}
			term.Line(cmd.OutOrStdout(), "no mistakes found")
			return nil
		},
	}
}

// gateHold is how long the gate of commands of that profile holds, which no setting changes; none if they have no gate.
func gateHold(profile string) []config.Shown {
	s, _, err := config.Load(nil, profile)
	if err != nil || s.NoGate || s.Gate == "" && (profile == "" || profile == generic.Name) {
		return nil
	}
	return []config.Shown{{Kind: "policy", Name: "gate hold", From: "default",
		Value: setup.Holds(setup.GateSettings(s)) + ", after a limit that names no time"}}
}

// places are where settings and state are.
func places() (list []config.Shown) {
	if dir, err := state.DefaultDir(); err == nil {
		from := "default"
		if os.Getenv(state.DirVar) != "" {
			from = state.DirVar
		}
		list = append(list, config.Shown{Kind: "state", Name: "state directory", Value: dir, From: from})
	}
	for _, f := range config.Files(".") {
		list = append(list, config.Shown{Kind: "file", Name: "file", Value: f.Path, From: f.State})
	}
	return list
}

// shownKinds are what stands before the names of what is no plain setting.
var shownKinds = map[string]string{"rule": "rule: ", "profile": "profile ", "price": "price of ", "budget": "budget ", "fallback": "fallback ", "alert": "alert "}

func writeConfig(w io.Writer, shown []config.Shown) error {
	var rows [][]term.Piece
	var ignored []string
	for _, s := range shown {
		if s.Kind == "ignored" {
			ignored = append(ignored, ignoredText(s))
			continue
		}
		name := shownKinds[s.Kind] + s.Name
		if s.Profile != "" {
			name += " (" + s.Profile + ")"
		}
		rows = append(rows, term.Cells(name, cmp.Or(s.Value, `""`), s.From))
	}
	if len(rows) == 0 {
		term.Line(w, "nothing is set; defaults apply")
	} else if err := term.Table(w, settingTable, rows); err != nil {
		return err
	}
	term.Printf(w, "\n")
	for _, p := range places() {
		if p.Kind == "state" {
			term.Line(w, "state directory: "+p.Value)
		} else {
			term.Line(w, fmt.Sprintf("file: %s (%s)", p.Value, p.From))
		}
	}
	for _, text := range ignored {
		term.Line(w, "ignored: "+text)
	}
	if s, _, err := config.Load(nil, ""); err == nil {
		for _, u := range s.Unread {
			term.Line(w, "not read: "+u.String())
		}
	}
	return nil
}

// ignoredText says what of a project's file has no effect, and why.
func ignoredText(s config.Shown) string {
	text := s.From
	if s.Name != "" {
		text += ": " + s.Name
	}
	if s.Profile != "" {
		text += " (" + s.Profile + ")"
	}
	return text + ": " + s.Why
}
