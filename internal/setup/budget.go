package setup

import (
	"fmt"
	"path/filepath"

	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/label"
)

// Budgets are the budgets that a run joins. One that has no limit anywhere is a mistake: its name may be mistyped, and
// the run would cost what it likes.
func Budgets(s *config.Settings, profile string) ([]budget.Joined, error) {
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
