package config

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/message"
	printable0 "github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/profile"
)

// ForJob is [UserSettings.Job] with the file as it is now, as belay run reads it.
func ForJob(flags, tags map[string]string, profile string) (given, labels map[string]string, err error) {
	user, err := ReadUser()
	if err != nil {
		return nil, nil, err
	}
	return user.Job(flags, tags, profile)
}

// Job returns what of a job's flags takes effect on this machine, for a command of that profile. They can only restrict what the user of this machine has set: a value of the table
// that allows more has no effect, as in a project's file. What has no such order, and the user has set to something else, is an error, and so is what a job may not say at all. Of the
// labels of a job, those stay that the user has not set.
func (user UserSettings) Job(flags, tags map[string]string, profile string) (given, labels map[string]string, err error) {
	s, err := user.load(nil, profile)
	if err != nil {
		return nil, nil, err
	}
	given = map[string]string{}
	for name, text := range flags {
		t := Find(name)
		if t == nil || t.Scope == PerCall || t.Scope == User {
			return nil, nil, message.Error(message.FleetFlagNotAllowed(name))
		}
		want := new(Settings)
		if err := t.set(want, text); err != nil {
			return nil, nil, message.Error(message.InFlag(name, err), err)
		}
		if err := s.restrict(given, t, text, want, profile); err != nil {
			return nil, nil, err
		}
	}
	labels = map[string]string{}
	for key, value := range tags {
		if _, own := s.Tags[key]; !own {
			labels[key] = value
		}
	}
	return given, labels, nil
}

// restrict gives a setting the value of a job, as far as that restricts what the user has set.
func (s *Settings) restrict(given map[string]string, t *Setting, text string, want *Settings, name string) error {
	set := s.Chosen(t.Name)
	if preset, chosen := profile.Preset(s.Preset); chosen && s.Chosen("preset") && !set {
		_, set = presetValues(preset)[t.Name]
	}
	switch {
	case t.Name == "budget":
		given[t.Name] = s.jobBudgets(want.Budgets)
		return nil
	case t.Name == "gate" && name != "" && name != generic.Name && text != s.Gate: // its own has the holds that the user sets
		return message.Error(fmt.Sprintf("jobs may not set --gate for %s, which has a gate of its own", printable0.Line(name)))
	case t.Name == "on-busy" && want.OnBusy == "replace": // it would end a run of the user's
		return message.Error(message.FleetFlagNotAllowed(t.Name + "=" + want.OnBusy))
	case t.Name == "fallback" && set && !slices.ContainsFunc(want.Fallbacks, func(f Fallback) bool { return !slices.Contains(s.Fallbacks, f) }),
		!set || text == s.raw[t.Name]:
		given[t.Name] = text
	case t.Name == "name", t.Scope == Narrow:
	case t.Name == "jitter", !math.IsNaN(measure(t.Name, want)):
		name = cmp.Or(name, generic.Name)
		if s.inForce(name).stricter(t, want) {
			given[t.Name] = text
		}
	default:
		return message.Error(fmt.Sprintf("jobs may not change --%s here, which is set in the settings of this machine", printable0.Line(t.Name)))
	}
	return nil
}

// jobBudgets are the budgets that a job joins beside those that the user has it join. A limit counts where the user has set none, or a higher one for the same time.
func (s *Settings) jobBudgets(list []budget.Joined) string {
	all := slices.Clone(s.Budgets)
	for _, j := range list {
		at := slices.IndexFunc(all, func(other budget.Joined) bool { return other.Name == j.Name })
		if at < 0 {
			all, at = append(all, budget.Joined{Name: j.Name}), len(all)
		}
		terms := all[at].Terms
		if terms == nil {
			terms = s.BudgetRules[j.Name].Terms
		}
		if j.Terms != nil && (terms == nil || terms.Window == j.Terms.Window && j.Terms.Limit < terms.Limit) {
			all[at].Terms = j.Terms
		}
	}
	var texts []string
	for _, j := range all {
		texts = append(texts, j.String())
	}
	return strings.Join(texts, ",")
}
