package profile

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/agent/custom"
	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/outcome"
	"github.com/belay-run/belay/internal/setup"
	"github.com/belay-run/belay/internal/signame"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/verdict"
)

var outcomeTable = []term.Column{{Heading: "OUTCOME", Min: 16}, {Heading: "EXPECTED", Kind: term.Whole}, {Heading: "GOT", Kind: term.Whole}, {Heading: "RULE", Drop: 1},
	{Heading: "RESULT", Kind: term.Note}}

var aboutTable = []term.Column{{Heading: "KEY", Min: 16}, {Heading: "VALUE", Kind: term.Note}}

// checkedOutcome is a saved outcome and what a profile makes of it.
type checkedOutcome struct {
	ID          string   `json:"id"`
	Expected    string   `json:"expected"`
	Got         string   `json:"got"`
	OK          bool     `json:"ok"`
	Differences []string `json:"differences,omitempty"`
	Rule        string   `json:"rule"`
	Evidence    string   `json:"evidence,omitempty"`
}

func newProfileCheck() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check NAME [FILE…]",
		Short: "Try a profile on saved outcomes",
		Example: `See what a profile says, and whether there is a mistake in it:
  belay profile check qwen
Try it on saved outcomes:
  belay profile check qwen outcomes.jsonl
Save an outcome with the class it should have:
  belay explain --exit-code 1 --stderr err --save a.jsonl --expect auth -- qwen`,
		Long: `Shows for each saved outcome the class that is expected, the one that the profile finds, and what else differs. A FILE has one JSON object per line; of a directory
all files *.jsonl are read. Without a FILE, those that the key "outcomes" of the profile names are used. If there are none either, the profile is shown. The exit code
is 1 if a verdict is not as expected.

Details: https://github.com/belay-run/belay/blob/main/docs/profiles.md`,
		ValidArgsFunction: func(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(given) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return command.CompleteProfiles(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.Usage(message.Error("name a profile"), message.AsIn("belay profile check qwen outcomes.jsonl"))
			}
			return checkProfile(cmd, args[0], args[1:], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object per line")
	return cmd
}

func checkProfile(cmd *cobra.Command, name string, paths []string, asJSON bool) error {
	own, err := config.OwnProfile(name)
	if err != nil {
		return command.Usage(err, "")
	}
	judge, _, err := setup.Judge(command.Streams(cmd), nil, name, []string{name})
	if err != nil {
		return err
	}
	if len(paths) == 0 && own != nil && own.Outcomes != "" {
		paths = []string{own.Outcomes}
	}
	if len(paths) == 0 {
		return showProfile(cmd.OutOrStdout(), name, own)
	}
	saved, err := readOutcomes(paths, name)
	if err != nil {
		return command.Usage(err, "")
	}
	var list []checkedOutcome
	differ := 0
	for i := range saved {
		one := checkOutcome(&saved[i], judge(saved[i].Outcome()))
		if !one.OK {
			differ++
		}
		list = append(list, one)
	}
	if err := writeChecked(cmd.OutOrStdout(), list, differ, asJSON); err != nil {
		return err
	}
	return command.Exit(min(differ, 1))
}

func checkOutcome(saved *outcome.Saved, v verdict.Verdict) checkedOutcome {
	one := checkedOutcome{ID: saved.ID, Expected: saved.Class(), Got: string(v.Class), Rule: v.Rule, Evidence: v.Evidence}
	for _, d := range saved.Compare(v) {
		one.Differences = append(one.Differences, d.String())
	}
	one.OK = len(one.Differences) == 0
	return one
}

func writeChecked(w io.Writer, list []checkedOutcome, differ int, asJSON bool) error {
	if asJSON {
		return term.JSONLines(w, list)
	}
	var rows [][]term.Piece
	for _, one := range list {
		result := "ok"
		if !one.OK {
			result = strings.Join(one.Differences, ", ")
		}
		rows = append(rows, term.Cells(one.ID, one.Expected, one.Got, one.Rule, result))
	}
	if err := term.Table(w, outcomeTable, rows); err != nil {
		return err
	}
	term.Line(w, message.OutcomesChecked(len(list), differ))
	return nil
}

// readOutcomes reads files of saved outcomes, and all such files of directories. Those of other profiles are left out.
func readOutcomes(paths []string, name string) (list []outcome.Saved, err error) {
	for i := 0; i < len(paths); i++ {
		if info, err := os.Stat(paths[i]); err == nil && info.IsDir() {
			inside, _ := filepath.Glob(filepath.Join(paths[i], "*.jsonl"))
			paths = slices.Concat(paths[:i], inside, paths[i+1:])
			i--
			continue
		}
		f, err := os.Open(paths[i])
		if err != nil {
			return nil, err
		}
		read, err := outcome.Read(f)
		f.Close()
		if err != nil {
			return nil, message.Error(fmt.Sprintf("%s: %v", paths[i], err), err)
		}
		for _, s := range read {
			if s.Profile == "" || s.Profile == name {
				list = append(list, s)
			}
		}
	}
	if len(list) == 0 {
		return nil, message.Error(fmt.Sprintf("there are no saved outcomes of %s", name))
	}
	return list, nil
}

// showProfile says what a profile says. Of one that is built in only the name is data.
func showProfile(w io.Writer, name string, d *custom.Definition) error {
	if d == nil {
		term.Line(w, fmt.Sprintf("%s is built in.", name))
		if name != generic.Name {
			term.Line(w, message.SaveOutcome(name))
		}
		return nil
	}
	listed := func(list []string, otherwise string) string {
		if len(list) == 0 {
			return otherwise
		}
		return strings.Join(list, " ")
	}
	ladder := make([]string, 0, len(d.Stop))
	for _, rung := range d.Stop {
		name, _ := signame.Parse(strconv.Itoa(int(rung.Signal)))
		ladder = append(ladder, name+" "+rung.Wait.String())
	}
	rows := [][]term.Piece{
		term.Cells("command", strings.Join(d.Commands, ", ")),
		term.Cells("options", len(d.Options)),
		term.Cells("prompt.option", d.Prompt.Option),
		term.Cells("prompt.stdin", d.Prompt.Stdin),
		term.Cells("output.events", listed(d.Output.Events, "none")),
		term.Cells("event", len(d.Events)),
		term.Cells("rule", len(d.Rules)),
		term.Cells("session.resume", listed(d.Session.Resume, "no")),
		term.Cells("stop", strings.Join(ladder, ", ")),
		term.Cells("stall", stallText(d.Stall)),
	}
	if err := term.Table(w, aboutTable, rows); err != nil {
		return err
	}
	term.Line(w, message.SaveOutcome(name))
	return nil
}

func stallText(d time.Duration) string {
	if d == 0 {
		return "none"
	}
	return d.String()
}
