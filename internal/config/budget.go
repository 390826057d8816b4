package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/quota"
)

// Member is a run that may belong to budgets.
type Member struct {
	Profile, Dir, Name string
	Tags               []string // KEY=VALUE
}

// has reports whether a run belongs to the budget without naming it.
func (b *Budget) has(m Member) bool {
	if len(b.Profiles)+len(b.Directories)+len(b.Names)+len(b.Tags) == 0 {
		return false
	}
	tagged := func(tag string) bool { return slices.Contains(m.Tags, tag) }
	return (len(b.Profiles) == 0 || slices.Contains(b.Profiles, m.Profile)) &&
		(len(b.Names) == 0 || slices.Contains(b.Names, m.Name)) &&
		(len(b.Tags) == 0 || slices.ContainsFunc(b.Tags, tagged)) &&
		(len(b.Directories) == 0 || slices.ContainsFunc(b.Directories, func(dir string) bool { return below(m.Dir, dir) }))
}

// below reports whether a directory is another one or below it, by any of their names.
func below(dir, root string) bool {
	for _, pair := range [][2]string{{dir, root}, {resolved(dir), resolved(root)}} {
		if rel, err := filepath.Rel(pair[1], pair[0]); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// resolved is a directory without links on the way to it, as far as that can be found out.
func resolved(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		return target
	}
	return dir
}

// Joins are the budgets that a run belongs to: those that it names, by flag or variable, and those that the user's file puts
// it into. A limit that is given with the name goes before that of the file, which alone says whether the budget is strict.
func (s *Settings) Joins(m Member) []budget.Joined {
	list := slices.Clone(s.Budgets)
	for i := range list {
		rule := s.BudgetRules[list[i].Name].Terms
		if given := list[i].Terms; given != nil && rule != nil {
			list[i].Terms = &budget.Terms{Limit: given.Limit, Window: given.Window, Strict: rule.Strict}
		} else if given == nil {
			list[i].Terms = rule
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.BudgetRules)) {
		rule := s.BudgetRules[name]
		named := slices.ContainsFunc(list, func(j budget.Joined) bool { return j.Name == name })
		if !named && rule.has(m) {
			list = append(list, budget.Joined{Name: name, Terms: rule.Terms})
		}
	}
	return list
}

// setBudgets reads the budgets that a run joins.
func setBudgets(s *Settings, text string) error {
	s.Budgets = nil
	for one := range strings.SplitSeq(text, ",") {
		j, err := budget.Parse(one)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(s.Budgets, func(other budget.Joined) bool { return other.Name == j.Name })
		switch {
		case at < 0:
			s.Budgets = append(s.Budgets, j)
		case s.Budgets[at].Terms == nil:
			s.Budgets[at] = j
		case j.Terms != nil && *j.Terms != *s.Budgets[at].Terms:
			return message.Error(fmt.Sprintf("budget %s has two limits", j.Name))
		}
	}
	return nil
}

// readBudgets reads the tables [budget.NAME] of the user's file.
func readBudgets(t *fields) map[string]Budget {
	all := map[string]Budget{}
	for _, name := range t.keys() {
		if err := budget.CheckName(name); err != nil {
			t.fail(name, err)
		}
		all[name] = budgetRule(t.tableOf(name, message.MustBeTable("[budget.nightly]")))
	}
	return all
}

func budgetRule(t *fields) (b Budget) {
	terms := budget.Terms{Limit: parsed(t, "limit", budget.ParseUSD), Window: parsed(t, "window", budget.ParseWindow), Strict: t.flag("strict")}
	b.Profiles = t.checked("profile", checkProfile)
	for _, dir := range t.texts("directory") {
		dir, err := directory(dir)
		if err != nil {
			t.fail("directory", err)
		}
		b.Directories = append(b.Directories, dir)
	}
	b.Reserve = parsed(t, "reserve", quota.ParseReserve)
	b.Names, b.Tags = t.checked("name", label.CheckName), t.checked("tag", checkTag)
	t.close()
	switch {
	case terms.Limit > 0 && terms.Window == "":
		t.fail("", message.Error("has a limit but no window (day, week or month)"))
	case terms.Limit == 0 && (terms.Window != "" || terms.Strict):
		t.fail("", message.Error("has no limit"))
	case terms.Limit > 0:
		b.Terms = &terms
	}
	return b
}

// directory reads a directory of the user's file, which may begin with ~.
func directory(text string) (string, error) {
	if rest, ok := strings.CutPrefix(text, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		home, err := os.UserHomeDir()
		return filepath.Join(home, rest), err
	}
	if !filepath.IsAbs(text) {
		return "", message.Error(fmt.Sprintf("%q is not an absolute path; ~ stands for your home directory", text))
	}
	return filepath.Clean(text), nil
}
