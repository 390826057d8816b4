package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
)

// Budget is what the user's file says of a budget: its terms, and which runs belong to it without naming it. Of each list
// that is given, one entry must match; with none at all, only runs that name the budget belong to it.
type Budget struct {
	Terms       *budget.Terms // nil if no limit is given
	Profiles    []string
	Directories []string // with all below them
	Names       []string
	Tags        []string // KEY=VALUE
}

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

// budgetRules reads the tables [budget.NAME] of the user's file. The key of what is wrong is returned beside the error.
func budgetRules(tables map[string]any) (rules map[string]Budget, key string, err error) {
	rules = map[string]Budget{}
	for name, value := range tables {
		key = "budget." + name
		if err := budget.CheckName(name); err != nil {
			return nil, key, err
		}
		table, ok := value.(map[string]any)
		if !ok {
			return nil, key, message.Error(message.MustBeTable("[budget.nightly]"))
		}
		rule, wrong, err := budgetRule(table)
		if err != nil {
			return nil, strings.TrimSuffix(key+"."+wrong, "."), err
		}
		rules[name] = rule
	}
	return rules, "", nil
}

func budgetRule(table map[string]any) (b Budget, key string, err error) {
	t := &fields{table: table}
	terms := budget.Terms{Limit: parsed(t, "limit", budget.ParseUSD), Window: parsed(t, "window", budget.ParseWindow), Strict: t.flag("strict")}
	b.Profiles = t.checked("profile", checkProfile)
	for _, dir := range t.texts("directory") {
		dir, err := directory(dir)
		if err != nil {
			t.fail("directory", err)
		}
		b.Directories = append(b.Directories, dir)
	}
	b.Names, b.Tags = t.checked("name", label.CheckName), t.checked("tag", checkTag)
	if t.close(); t.wrong != nil {
		return b, t.wrong.key, t.wrong.err
	}
	switch {
	case terms.Limit > 0 && terms.Window == "":
		return b, "", message.Error("has a limit but no window (day, week or month)")
	case terms.Limit == 0 && (terms.Window != "" || terms.Strict):
		return b, "", message.Error("has no limit")
	case terms.Limit > 0:
		b.Terms = &terms
	}
	return b, "", nil
}

// texts reads a text or a list of them.
func texts(value any, check func(string) error) (list []string, err error) {
	values, ok := value.([]any)
	if !ok {
		values = []any{value}
	}
	if len(values) == 0 {
		return nil, errors.New("is empty")
	}
	for _, v := range values {
		text, ok := v.(string)
		if !ok || text == "" {
			return nil, message.Error(message.NotAString(v))
		}
		if check != nil {
			if err := check(text); err != nil {
				return nil, err
			}
		}
		list = append(list, text)
	}
	return list, nil
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

// budgets are what the user's file says of budgets, for commands of that profile.
func (s *Settings) budgets(profile string) (list []Shown) {
	for _, name := range slices.Sorted(maps.Keys(s.BudgetRules)) {
		rule := s.BudgetRules[name]
		if profile != "" && len(rule.Profiles) > 0 && !slices.Contains(rule.Profiles, profile) {
			continue
		}
		value := "no limit"
		if t := rule.Terms; t != nil {
			value = fmt.Sprintf("$%g a %s", t.Limit, t.Window)
			if t.Strict {
				value += ", strict"
			}
		}
		list = append(list, Shown{Kind: "budget", Name: name, Value: value, From: UserFile(), Profile: strings.Join(rule.Profiles, ",")})
	}
	return list
}
