package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/budget"
	wallclock "github.com/belay-run/belay/internal/clock"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/term"
)

func newBudget() *cobra.Command {
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
[budget.NAME] in ~/.config/belay/config.toml (docs/cost.md).`,
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
	sayUnrecorded(cmd.ErrOrStderr(), overview.Change{Event: "budget_reset", Key: name, Reason: reason}.Record(s))
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
	if near := config.Nearest(name, all); near != "" {
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
		rows = append(rows, budgetRow(&e))
		bars = append(bars, budgetBar(&e))
	}
	if err := term.Table(w, budgetTable(bars), rows); err != nil {
		return err
	}
	rows = nil
	for _, e := range list {
		for _, s := range e.By {
			rows = append(rows, term.Cells(e.Name, dollars(s.Spent, s.Unknown), s.Profile, s.Project, s.Name))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	term.Printf(w, "\n")
	return term.Table(w, shareTable, rows)
}

func budgetRow(e *overview.Budget) []term.Piece {
	limit, left := "–", "–"
	if e.Limit != nil {
		limit, left = fmt.Sprintf("$%g a %s", *e.Limit, string(e.Window)), dollars(*e.Left, 0)
	}
	return term.Cells(e.Name, dollars(e.Spent, e.Unknown), left, limit, term.Styled(budgetStyle(e), budgetStatus(e)))
}

// budgetStatus says in words how the budget stands.
func budgetStatus(e *overview.Budget) string {
	text, ends := "open", ", new window at "
	switch {
	case e.Closed:
		text, ends = "closed", " until "
	case e.Warning:
		text = fmt.Sprintf("warning: %.0f %% spent", 100*e.Spent / *e.Limit)
	}
	if e.Ends != nil {
		text += ends + message.When(e.Ends.Time)
	}
	if e.Closed && e.Left != nil && *e.Left > 0 && e.Unknown > 0 { // that is why
		text += fmt.Sprintf(" (cost of %s unknown)", message.Count(e.Unknown, "attempt"))
	}
	return text
}

// budgetBar shows how much of the limit is spent.
func budgetBar(e *overview.Budget) term.Bar {
	if e.Limit == nil {
		return term.Bar{}
	}
	return term.Bar{Length: 1, Full: e.Spent / *e.Limit, Style: budgetStyle(e), Rest: term.Faint}
}

// budgetStyle is how its state and its bar look.
func budgetStyle(e *overview.Budget) term.Style {
	switch {
	case e.Closed:
		return term.Bad
	case e.Warning:
		return term.Warning
	}
	return term.Good
}

// dollars is an amount, of which some attempts may not have told their part.
func dollars(usd float64, unknown int) string {
	text := fmt.Sprintf("$%.2f", usd)
	if usd > 0 && usd < 0.01 {
		text = fmt.Sprintf("$%.4f", usd)
	}
	if unknown > 0 {
		text = fmt.Sprintf("≥ %s, %d unknown", text, unknown)
	}
	return text
}

// completeBudgets are the names of budgets.
func completeBudgets() (names []string) {
	list, _ := listBudgets(nil)
	for _, e := range list {
		names = append(names, e.Name)
	}
	return names
}

// joinedBudgets are the budgets that a run joins. One that has no limit anywhere is a mistake: its name may be mistyped, and
// the run would cost what it likes.
func joinedBudgets(s *config.Settings, profile string) ([]budget.Joined, error) {
	if len(s.Budgets) == 0 && len(s.BudgetRules) == 0 {
		return nil, nil
	}
	dir, err := filepath.Abs(s.Cwd)
	if err != nil {
		return nil, command.Usage(err, "")
	}
	list := s.Joins(config.Member{Profile: profile, Dir: dir, Name: s.Name, Tags: label.List(s.Tags)})
	for _, j := range list {
		if _, ruled := s.BudgetRules[j.Name]; j.Terms != nil || ruled {
			continue
		}
		opened, err := command.OpenState()
		if err != nil {
			break // the run will say so
		}
		if book := opened.Budgets().Book(j.Name, nil); !book.Known() {
			return nil, command.Usage(fmt.Errorf("budget %s has no limit yet", j.Name), fmt.Sprintf("set one: --budget %s=5/day", j.Name))
		}
	}
	return list, nil
}

// budgetsNow says how the budgets stand that a run would join.
func budgetsNow(list []budget.Joined) (texts []string) {
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
		row := budgetRow(&standing)
		texts = append(texts, fmt.Sprintf("%s: %s of %s spent, %s", j.Name, row[1].Text, row[3].Text, row[4].Text))
	}
	return texts
}
