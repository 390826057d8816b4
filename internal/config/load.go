package config

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// Given is what the command line gave: setting → value.
type Given map[string]string

// Add adds a flag and its value. The last one counts, unless the setting takes several.
func (g Given) Add(s *Setting, value string) {
	if before, again := g[s.Name]; again && s.repeats() {
		value = before + "," + value
	}
	g[s.Name] = value
}

// layer is a place that the user gives values in.
type layer int

const (
	inFile    layer = iota + 1 // the user's own
	inEnviron                  // a variable of Belay's, or of the CLI's
	inCommand                  // a flag
)

// Load puts the layers together: flag > BELAY_ > CLAUDE_ > project > user. The preset, the lowest, is for [Settings.Policy].
// What a project sets takes effect as far as its [Scope] allows; the rest is in Settings.Ignored. The rules are the user's for
// the profile.
func Load(given Given, profile string) (*Settings, []verdict.Rule, error) {
	user, err := ReadUser()
	if err != nil {
		return nil, nil, err
	}
	return user.Load(given, profile)
}

// UserSettings are the settings of the user's file. To read it makes the profiles known that it declares.
type UserSettings struct{ *file }

// ReadUser reads the user's file, for those who have to know its profiles before they know which settings to load.
func ReadUser() (UserSettings, error) {
	user, err := readUser()
	if user == nil {
		user = &file{}
	}
	return UserSettings{user}, err
}

// Load is the function of that name, with the file as it was read.
func (user UserSettings) Load(given Given, profile string) (*Settings, []verdict.Rule, error) {
	s, err := user.load(given, profile)
	if err != nil {
		return nil, nil, err
	}
	s.bound(readProject(cmp.Or(given["cwd"], ".")), profile)
	return s, user.rulesFor(profile), nil
}

// load puts the user's own layers together.
func (user UserSettings) load(given Given, profile string) (*Settings, error) {
	s := &Settings{origin: map[string]string{}, raw: map[string]string{}, chosen: map[string]layer{}}
	if len(user.own) > 0 {
		if err := user.checkOwn(profile); err != nil {
			return nil, err
		}
	}
	for _, i := range user.ignored {
		s.ignore(i)
	}
	s.Alerts, s.BudgetRules, s.FallbackArgs = user.alerts, user.budgets, user.fallbacks
	if len(user.prices) > 0 {
		s.Prices = price.New(user.prices)
	}
	env, vendor := environ(), vendorEnviron(profile)
	s.Unread = unread(env)
	name := cmp.Or(given["name"], env["BELAY_NAME"], user.values["name"].text) // of the run, by which the file may have settings
	for i := range Table {
		t := &Table[i]
		if v, from, ok := user.value(t, profile, name); ok {
			if err := t.set(s, v.text); err != nil {
				return nil, &Mistake{Path: user.path, Err: fmt.Errorf("%s: %w", v.key, err)}
			}
			s.choose(t, v.text, from, inFile)
		}
		if v, ok := vendor[t.Name]; ok {
			value, err := v.read()
			if err == nil {
				err = t.set(s, value)
			}
			if err != nil {
				return nil, &Mistake{Var: v.Name, Err: err}
			}
			s.choose(t, value, v.Name, inEnviron)
		}
		if v, ok := fromEnviron(env, t); ok {
			if err := t.set(s, v.text); err != nil {
				return nil, &Mistake{Var: v.key, Err: err}
			}
			s.choose(t, v.text, v.key, inEnviron)
		}
		if v, ok := given[t.Name]; ok {
			if err := t.set(s, v); err != nil {
				return nil, fmt.Errorf("--%s: %w", t.Name, err)
			}
			s.choose(t, v, "--"+t.Name, inCommand)
		}
	}
	if s.From("tag") != "" {
		s.raw["tag"] = label.Format(s.Tags) // those of all layers
	}
	if err := s.exclude(); err != nil {
		return nil, err
	}
	s.asked = s.asksForRetries()
	return s, nil
}

// Alerts are what the user's file says of alerts.
func Alerts() (alert.Config, error) {
	user, err := ReadUser()
	return user.alerts, err
}

// value is what the file says of a setting for a profile and a run of that name, and where.
func (f *file) value(t *Setting, profile, name string) (v named, from string, ok bool) {
	v, ok = f.values[t.Key()]
	from = f.path
	if own, there := f.profile[profile][t.Key()]; there {
		v, ok = own, true
		from = f.path + " [profile." + profile + "]"
	}
	if own, there := f.run[name][t.Key()]; there {
		v, ok = own, true
		from = f.path + " [run." + name + "]"
	}
	if v.key != t.Key() {
		from += " (" + v.key + ")"
	}
	return v, from, ok
}

// rulesFor are the rules for a profile.
func (f *file) rulesFor(profile string) (rules []verdict.Rule) {
	for _, r := range f.rules {
		if r.Profile == "" || r.Profile == profile {
			rules = append(rules, r.Rule)
		}
	}
	return rules
}

// choose notes a value that the user gives.
func (s *Settings) choose(t *Setting, value, from string, in layer) {
	s.note(t, value, from)
	s.chosen[t.Name] = in
}

// note remembers where a value comes from.
func (s *Settings) note(t *Setting, value, from string) {
	s.origin[t.Name], s.raw[t.Name] = from, value
}

// Asked reports whether the user asks for a failed command to be repeated. A project cannot.
func (s *Settings) Asked() bool { return s.asked }

// asksForRetries reports whether any setting so far asks for a failed command to be repeated.
func (s *Settings) asksForRetries() bool {
	if s.From("max-retries") != "" {
		return s.MaxRetries > 0
	}
	return slices.ContainsFunc([]string{"preset", "retry-on-exit", "retry-on", "retry-timeouts"}, func(name string) bool {
		return s.From(name) != ""
	})
}

// presetName is the preset that applies.
func (s *Settings) presetName(profile string, agent bool) string {
	switch {
	case s.Preset != "":
		return s.Preset
	case agent:
		return profile
	}
	return "default"
}

// RetryExits are the exit codes with which a failure that says nothing else is worth repeating. Those of the preset transport are
// seed 004's, for CLIs that Belay knows; any failure of a plain command is worth it then.
func (s *Settings) RetryExits(known bool) []int {
	if known && s.Preset == "transport" && len(s.RetryOnExit) == 0 && s.RetryOn == "" {
		return []int{1, 2}
	}
	return s.RetryOnExit
}

// Policy is the preset with what was given over it. An agent has a preset of its own, and is repeated without being
// asked to; any other command is not.
func (s *Settings) Policy(name string, agent bool) retry.Policy {
	p, _ := profile.Preset(s.presetName(name, agent))
	given := func(name string) bool { return s.From(name) != "" }
	if given("max-retries") {
		p.MaxRetries, p.CountThrottles = s.MaxRetries, true
	}
	if !agent && !s.asked || given("max-retries") && s.MaxRetries == 0 {
		p.MaxRetries = retry.None
	}
	if given("base-delay") {
		// In a Policy zero means the default; a nanosecond is as good as no delay.
		p.BaseDelay = max(s.BaseDelay, 1)
	}
	if given("max-delay") {
		p.MaxDelay = max(s.MaxDelay, 1)
	}
	if given("factor") {
		p.Factor = s.Factor
	}
	if given("jitter") {
		p.Jitter = s.Jitter
	}
	if given("max-wait") {
		p.MaxWait, p.NoBreakerWait = max(s.MaxWait, 1), false
	}
	if s.NoWait {
		p.MaxWait = 1
	}
	if given("timeout") {
		p.Timeout = s.Timeout
	}
	if s.AtMost.Timeout > 0 && (p.Timeout > 0 || !agent) { // else the CLI's profile may have a limit, which is not known here
		p.Timeout = lowest(p.Timeout, s.AtMost.Timeout)
	}
	p.TotalTimeout, p.RetryTimeouts = s.TotalTimeout, s.RetryTimeouts
	return p
}
