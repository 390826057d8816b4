package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/belay-run/belay/internal/agent/custom"
	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/profile"
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
	s := &Settings{origins: newOrigins()}
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
			s.choose(t.Name, v.text, from, inFile)
		}
		if v, ok := vendor[t.Name]; ok {
			value, err := v.read()
			if err == nil {
				err = t.set(s, value)
			}
			if err != nil {
				return nil, &Mistake{Var: v.Name, Err: err}
			}
			s.choose(t.Name, value, v.Name, inEnviron)
		}
		if v, ok := fromEnviron(env, t); ok {
			if err := t.set(s, v.text); err != nil {
				return nil, &Mistake{Var: v.key, Err: err}
			}
			s.choose(t.Name, v.text, v.key, inEnviron)
		}
		if v, ok := given[t.Name]; ok {
			if err := t.set(s, v); err != nil {
				return nil, fmt.Errorf("--%s: %w", t.Name, err)
			}
			s.choose(t.Name, v, "--"+t.Name, inCommand)
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

// Fleet is what the file says of jobs of a fleet.
func (user UserSettings) Fleet() Fleet { return user.fleet }

// Prices are the user's own, from the user's file alone.
func Prices() (*price.Table, error) {
	f, err := readUser()
	if err != nil || f == nil || len(f.prices) == 0 {
		return nil, err
	}
	return price.New(f.prices), nil
}

// check compiles the patterns of a profile that the file declares. The error is a [*Mistake].
func (f *file) check(o *ownProfile) error {
	if o.wrong != nil {
		return o.wrong
	}
	err := o.Check()
	if err == nil {
		return nil
	}
	wrong, _ := errors.AsType[*custom.KeyError](err)
	key := "profile." + o.Name + "." + wrong.Key
	return &Mistake{Path: f.path, Line: lineOf(o.lines, key), Err: message.Error(fmt.Sprintf("%s: %v", key, wrong.Err), wrong.Err)}
}

// checkOwn compiles the patterns of one of the declared profiles, or, without a name, of all. The error is a [*Mistake].
func (f *file) checkOwn(name string) error {
	for _, o := range f.own {
		if cmp.Or(name, o.Name) == o.Name {
			if err := f.check(o); err != nil {
				return err
			}
		}
	}
	return nil
}

// OwnProfile is what the user's file, or else a profile that comes with Belay, says of a CLI, checked; nil if neither knows one of that name.
func OwnProfile(name string) (*custom.Definition, error) {
	f, err := readUser()
	if err != nil {
		return nil, err
	}
	if f != nil {
		for _, o := range f.own {
			if o.Name == name {
				return o.Definition, f.check(o)
			}
		}
	}
	if slices.Contains(profile.Shipped(), name) {
		return readShipped(name).Definition, nil
	}
	return nil, nil
}
