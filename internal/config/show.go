package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Shown is one thing that is set, as [Show] reports it. Fields are only ever added.
type Shown struct {
	Kind    string `json:"kind"` // setting, policy (what follows from the settings), rule, profile, price, budget, fallback, alert or ignored; the command adds state and file
	Name    string `json:"name"`
	Value   string `json:"value"`
	From    string `json:"from"`
	Profile string `json:"profile,omitempty"` // if it is not for all
	Why     string `json:"why,omitempty"`     // it is ignored
}

// Show returns everything that has a value outside of a call, and where that comes from: for commands of that profile, with
// what its preset says; or, of no profile, what is set for all and what is set for one.
func Show(profile string) ([]Shown, error) {
	user, err := ReadUser()
	if err != nil {
		return nil, err
	}
	if err := user.checkOwn(""); err != nil {
		return nil, err
	}
	if profile != "" {
		if err := checkProfile(profile); err != nil {
			return nil, err
		}
	}
	s, _, err := user.Load(nil, profile)
	if err != nil {
		return nil, err
	}
	list := s.shown("")
	var ignored []Shown
	for _, i := range s.Ignored {
		ignored = append(ignored, i.shown(""))
	}
	if profile != "" || s.Preset != "" {
		list = append(list, s.fromPreset(profile)...)
	}
	for _, other := range Profiles() {
		if profile != "" {
			break
		}
		own, _, err := user.Load(nil, other)
		if err != nil {
			return nil, err
		}
		for _, row := range own.shown(other) {
			if s.From(row.Name) != row.From {
				list = append(list, row)
			}
		}
		for _, i := range own.Ignored {
			if !slices.Contains(s.Ignored, i) {
				ignored = append(ignored, i.shown(other))
			}
		}
	}
	for _, r := range user.rules {
		if profile == "" || r.Profile == "" || r.Profile == profile {
			list = append(list, Shown{Kind: "rule", Name: r.Name, Value: string(r.Class), From: UserFile(), Profile: r.Profile})
		}
	}
	for _, o := range user.own {
		if profile == "" || o.Name == profile {
			list = append(list, Shown{Kind: "profile", Name: o.Name, Value: strings.Join(o.Commands, ", "), From: UserFile()})
		}
	}
	for model, p := range s.Prices.Own() {
		list = append(list, Shown{Kind: "price", Name: model, Value: fmt.Sprintf("input %g, output %g", p.Input, p.Output), From: UserFile()})
	}
	return slices.Concat(list, s.budgets(profile), s.fallbackRows(), s.alerts(profile), ignored), nil
}

// shown are the settings that have a value.
func (s *Settings) shown(profile string) (list []Shown) {
	for i := range Table {
		if from := s.From(Table[i].Name); from != "" {
			list = append(list, Shown{Kind: "setting", Name: Table[i].Name, Value: s.Text(Table[i].Name), From: from, Profile: profile})
		}
	}
	return list
}

// fromPreset are the preset's values of the settings that are not set.
func (s *Settings) fromPreset(profile string) (list []Shown) {
	agent := profile != "" && profile != "generic"
	p := s.Policy(profile, agent)
	if p.MaxRetries < 0 {
		return nil // nothing is repeated, and nothing of it counts
	}
	p.Factor, p.MaxWait = cmp.Or(p.Factor, defaultFactor), cmp.Or(p.MaxWait, defaultMaxWait)
	for _, v := range []struct{ name, value string }{
		{"max-retries", strconv.Itoa(p.MaxRetries)}, {"base-delay", written(p.BaseDelay)}, {"max-delay", written(p.MaxDelay)},
		{"factor", strconv.FormatFloat(p.Factor, 'g', -1, 64)}, {"jitter", fmt.Sprint(p.Jitter)}, {"max-wait", written(p.MaxWait)},
		{"timeout", written(p.Timeout)}, {"retry-on-exit", strings.Trim(strings.ReplaceAll(fmt.Sprint(s.RetryExits(agent)), " ", ","), "[]")},
	} {
		if s.From(v.name) == "" && v.value != "" {
			list = append(list, Shown{Kind: "setting", Name: v.name, Value: v.value, From: "preset " + s.presetName(profile, agent)})
		}
	}
	from := cmp.Or(s.From("max-retries"), s.From("max-wait"), "preset "+s.presetName(profile, agent))
	return append(list, Shown{Kind: "policy", Name: "throttles", Value: Throttles(s.Policy(profile, agent), s.AtMost.Starts), From: from})
}

// alerts are what the user's file says of alerts. An address may hold a secret; only its host is shown.
func (s *Settings) alerts(profile string) (list []Shown) {
	add := func(of, name, value string) {
		if value != "" {
			list = append(list, Shown{Kind: "alert", Name: name, Value: value, From: UserFile(), Profile: of})
		}
	}
	a := s.Alerts
	add("", "failures", failures(a.Failures))
	add("", "within", written(a.Within))
	add("", "forecast", map[bool]string{true: "true"}[a.Forecast])
	add("", "command", strings.Join(a.Command, " "))
	if u, err := url.Parse(a.Webhook); err == nil && u.Host != "" {
		add("", "webhook", u.Scheme+"://"+u.Host+"/…")
	}
	var names []string
	for name := range a.Per {
		if profile == "" || name == profile || profile == "generic" && !strings.Contains(name, ":") && !slices.Contains(Profiles(), name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		add(name, "failures", failures(a.Per[name].Failures))
		add(name, "within", written(a.Per[name].Within))
	}
	return list
}

func failures(n int) string {
	switch {
	case n < 0:
		return "0" // off
	case n == 0:
		return ""
	}
	return strconv.Itoa(n)
}

// File is a file that settings are read from.
type File struct {
	Path  string
	State string // read, ignored or not there
}

// Files are the files for a command in dir.
func Files(dir string) (files []File) {
	if f := readProject(dir); f != nil {
		state := "read"
		if len(f.ignored) > 0 && f.ignored[0].Key == "" {
			state = "ignored"
		}
		files = append(files, File{f.path, state})
	}
	if path := UserFile(); path != "" {
		state := "not there"
		if _, err := os.Stat(path); err == nil {
			state = "read"
		}
		files = append(files, File{path, state})
	}
	return files
}

// shown is how it is shown for a profile.
func (i Ignored) shown(profile string) Shown {
	return Shown{Kind: "ignored", Name: i.Key, From: i.at(), Profile: profile, Why: i.Why}
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

// fallbackRows are the arguments that the user's file gives fallbacks.
func (s *Settings) fallbackRows() (list []Shown) {
	for _, name := range slices.Sorted(maps.Keys(s.FallbackArgs)) {
		list = append(list, Shown{Kind: "fallback", Name: name, Value: strings.Join(s.FallbackArgs[name], " "), From: UserFile()})
	}
	return list
}
