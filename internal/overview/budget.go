package overview

import (
	"errors"
	"maps"
	"slices"

	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/clock"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/state"
)

// Budget is how a budget stands. Fields are only ever added.
type Budget struct {
	Name    string         `json:"name"`
	Limit   *float64       `json:"limit"` // null if it only counts
	Window  budget.Window  `json:"window"`
	Strict  bool           `json:"strict"`
	Spent   float64        `json:"spent"`
	Left    *float64       `json:"left"`
	Unknown int            `json:"unknown"` // attempts whose cost is not known
	Closed  bool           `json:"closed"`
	Warning bool           `json:"warning"` // at least 80 % are spent
	Ends    *journal.Time  `json:"ends"`    // the window, and with it what closes the budget
	By      []budget.Share `json:"by"`
}

// Rules are the budgets of the user's file.
func Rules() (map[string]config.Budget, error) {
	s, _, err := config.Load(nil, "")
	if err != nil {
		return nil, err
	}
	return s.BudgetRules, nil
}

// BudgetNames are the budgets that are on file or among the rules.
func BudgetNames(s *state.State, rules map[string]config.Budget) ([]string, error) {
	books, err := s.Budgets().List()
	if err != nil {
		return nil, err
	}
	all := slices.Collect(maps.Keys(rules))
	for _, b := range books {
		if _, also := rules[b.Name]; !also {
			all = append(all, b.Name)
		}
	}
	slices.Sort(all)
	return all, nil
}

// Budgets returns budgets as they stand now; never nil.
func Budgets(s *state.State, rules map[string]config.Budget, names []string) ([]Budget, error) {
	list := []Budget{}
	for _, name := range names {
		b, err := NewBudget(s.Budgets().Book(name, rules[name].Terms))
		if err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	return list, nil
}

// NewBudget says how a book stands.
func NewBudget(book *budget.Book) (Budget, error) {
	now := clock.Now()
	s, err := book.Check(now)
	if err != nil && !errors.Is(err, budget.ErrDamaged) {
		return Budget{}, err
	}
	by, err := book.Shares(now)
	if err != nil {
		return Budget{}, err
	}
	if by == nil {
		by = []budget.Share{}
	}
	b := Budget{Name: book.Name, Window: s.Window, Strict: s.Strict, Spent: s.Spent, Unknown: s.Unknown, Closed: s.Closed(), Warning: s.Low(), By: by}
	if s.Limit > 0 {
		left := s.Left()
		b.Limit, b.Left = &s.Limit, &left
	}
	if !s.Ends.IsZero() {
		b.Ends = &journal.Time{Time: s.Ends}
	}
	return b, nil
}
