// Package budget is belay budget: what is spent and left.
package budget

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/budget"
	wallclock "github.com/belay-run/belay/internal/clock"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/command/gates"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/term"
)

// New makes belay budget.
func New() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "budget [NAME…]",
		Short: "Show what is spent and left of budgets",
		Example: `Count a run towards a budget, and set its limit:
  belay run --budget nightly=5/day -- claude -p "Fix the flaky tests"
Show all budgets:
  belay budget
Start a budget from zero:
  belay budget reset nightly
Show what each machine of a fleet has spent, and may still spend:
  belay budget --fleet`,
		Long: `A budget limits what agents cost in a day, a week or a month, across all processes. A run joins a budget with --budget NAME, or through
[budget.NAME] in ~/.config/belay/config.toml. Details: https://github.com/belay-run/belay/blob/main/docs/cost.md`,
		ValidArgsFunction: command.Complete(completeBudgets),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object per line")
	fleet := command.AddFleetFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		if handed, err := fleet.HandOver(cmd, belayd.FleetBudget, asJSON, names...); handed {
			return err
		}
		list, err := listBudgets(names)
		if err != nil {
			return err
		}
		if asJSON {
			return term.JSONLines(cmd.OutOrStdout(), list)
		}
		return writeBudgets(cmd.OutOrStdout(), list)
	}
	cmd.AddCommand(newBudgetReset())
	return cmd
}

func newBudgetReset() *cobra.Command {
	var unknown bool
	cmd := &cobra.Command{
		Use:   "reset NAME…",
		Short: "Forget what was spent in the current window",
		Example: `Start a budget from zero:
  belay budget reset nightly
Forget only the attempts whose cost is unknown:
  belay budget reset --unknown nightly`,
		ValidArgsFunction: command.Complete(completeBudgets),
		Args:              command.Needs(1, 0, "budget", "belay budget reset nightly"),
		RunE: func(cmd *cobra.Command, names []string) error {
			if _, err := listBudgets(names); err != nil { // nothing is reset if one of them is mistyped
				return err
			}
			opened, err := state.Open("")
			if err != nil {
				return command.Fail(err)
			}
			for _, name := range names {
				if err := resetBudget(cmd, opened, name, unknown); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&unknown, "unknown", false, "forget only the attempts whose cost is unknown, which close a strict budget")
	return cmd
}

func resetBudget(cmd *cobra.Command, s *state.State, name string, unknown bool) error {
	rules, _ := overview.Rules() // it has no terms of the file's then
	changed, err := s.Budgets().Book(name, rules[name].Terms).Reset(wallclock.Now(), unknown)
	switch {
	case err != nil && !errors.Is(err, budget.ErrDamaged):
		return command.Fail(err)
	case !changed:
		term.Printf(cmd.OutOrStdout(), "nothing to reset: nothing has been spent from budget %s\n", name)
		return nil
	}
	reason := ""
	if unknown {
		reason = "unknown"
	}
	gates.SayUnrecorded(cmd.ErrOrStderr(), overview.Change{Event: "budget_reset", Key: name, Reason: reason}.Record(s))
	term.Printf(cmd.OutOrStdout(), "budget %s was reset\n", name)
	return nil
}

// listBudgets returns budgets as they stand now: those, or all that are on file or in the user's file.
func listBudgets(names []string) ([]overview.Budget, error) {
	known, err := overview.Rules()
	if err != nil {
		return nil, command.Usage(err, "")
	}
	opened, err := command.OpenState()
	if err != nil {
		return nil, err
	}
	all, err := overview.BudgetNames(opened, known)
	if err != nil {
		return nil, command.Fail(err)
	}
	for _, name := range names {
		if !slices.Contains(all, name) {
			return nil, noBudget(name, all)
		}
	}
	if len(names) > 0 {
		all = names
	}
	list, err := overview.Budgets(opened, known, all)
	return list, command.Fail(err)
}

// noBudget says that there is no budget of that name.
func noBudget(name string, all []string) error {
	hint := fmt.Sprintf("to set it: belay run --budget %s=5/day -- …", name)
	if near := message.Nearest(name, all); near != "" {
		hint = message.DidYouMeanOne(near)
	}
	return command.Usage(errors.New("there is no budget "+name), hint)
}

func writeBudgets(w io.Writer, list []overview.Budget) error {
	if len(list) == 0 {
		return term.Printf(w, "there are no budgets. To set one: belay run --budget NAME=5/day -- claude -p …\n")
	}
	var rows [][]term.Piece
	var bars []term.Bar
	for _, e := range list {
		rows = append(rows, e.Row())
		bars = append(bars, e.Bar())
	}
	if err := term.Table(w, budgetTable(bars), rows); err != nil {
		return err
	}
	rows = nil
	for _, e := range list {
		for _, s := range e.By {
			rows = append(rows, term.Cells(e.Name, overview.Spent(s.Spent, s.Unknown), s.Profile, s.Project, s.Name))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	term.Printf(w, "\n")
	return term.Table(w, shareTable, rows)
}

// completeBudgets are the names of budgets.
func completeBudgets() (names []string) {
	list, _ := listBudgets(nil)
	for _, e := range list {
		names = append(names, e.Name)
	}
	return names
}

// BudgetsNow says how the budgets stand that a run would join.
func BudgetsNow(list []budget.Joined) (texts []string) {
	s, err := command.OpenState()
	if err != nil {
		return nil
	}
	for _, j := range list {
		standing, err := overview.NewBudget(s.Budgets().Book(j.Name, j.Terms))
		if err != nil {
			texts = append(texts, fmt.Sprintf("%s: %v", j.Name, err))
			continue
		}
		row := standing.Row()
		texts = append(texts, fmt.Sprintf("%s: %s of %s spent, %s", j.Name, row[1].Text, row[3].Text, row[4].Text))
	}
	return texts
}

// budgetTable has the bars of what is spent behind it.
func budgetTable(bars []term.Bar) []term.Column {
	return []term.Column{{Heading: "BUDGET", Kind: term.Path}, {Heading: "SPENT", Kind: term.Number}, {Bars: bars}, {Heading: "LEFT", Kind: term.Number},
		{Heading: "LIMIT", Kind: term.Whole}, {Heading: "STATE", Kind: term.Note}}
}

var shareTable = []term.Column{{Heading: "BUDGET", Kind: term.Path}, {Heading: "SPENT", Kind: term.Number}, {Heading: "PROFILE"}, {Heading: "PROJECT", Kind: term.Path, Min: 16},
	{Heading: "NAME", Min: 12}}
