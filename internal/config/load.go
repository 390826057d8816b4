package config

import (
	"fmt"

	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// Given is what the command line gave: setting → value.
type Given map[string]string

// Load puts the layers together: flag > BELAY_ > CLAUDE_ > project > user. The preset, the lowest, is for [Settings.Policy].
// The rules are the user's for the profile.
func Load(given Given, profile string) (*Settings, []verdict.Rule, error) {
	dir := given["cwd"]
	if dir == "" {
		dir = "."
	}
	var files []*file
	for _, f := range []struct {
		path    string
		project bool
	}{{UserFile(), false}, {findProject(dir), true}} {
		if f.path == "" {
			continue
		}
		read, err := readFile(f.path, f.project)
		if err != nil {
			return nil, nil, err
		}
		if read != nil {
			files = append(files, read)
		}
	}
	s := &Settings{origin: map[string]string{}, raw: map[string]string{}}
	env, vendor := environ(), vendorEnviron(profile)
	s.Unread = unread(env)
	var rules []verdict.Rule
	for _, f := range files {
		if !f.project {
			s.Alerts = f.alerts
		}
		for _, r := range f.rules {
			if r.Profile == "" || r.Profile == profile {
				rules = append(rules, r.Rule)
			}
		}
	}
	for i := range Table {
		t := &Table[i]
		for _, f := range files {
			for i, layer := range []map[string]named{f.values, f.profile[profile]} {
				if v, ok := layer[t.Key()]; ok {
					if err := t.set(s, v.text); err != nil {
						return nil, nil, &Mistake{Path: f.path, Err: fmt.Errorf("%s: %w", v.key, err)}
					}
					from := f.path
					if i > 0 {
						from += " [profile." + profile + "]"
					}
					if v.key != t.Key() {
						from += " (" + v.key + ")"
					}
					s.note(t, v.text, from)
				}
			}
		}
		if v, ok := vendor[t.Name]; ok {
			value, err := v.read()
			if err == nil {
				err = t.set(s, value)
			}
			if err != nil {
				return nil, nil, &Mistake{Var: v.Name, Err: err}
			}
			s.note(t, value, v.Name)
		}
		if v, ok := fromEnviron(env, t); ok {
			if err := t.set(s, v.text); err != nil {
				return nil, nil, &Mistake{Var: v.key, Err: err}
			}
			s.note(t, v.text, v.key)
		}
		if v, ok := given[t.Name]; ok {
			if err := t.set(s, v); err != nil {
				return nil, nil, fmt.Errorf("--%s: %w", t.Name, err)
			}
			s.note(t, v, "--"+t.Name)
		}
	}
	return s, rules, s.exclude()
}

// note remembers where a value comes from.
func (s *Settings) note(t *Setting, value, from string) {
	s.origin[t.Name], s.raw[t.Name] = from, value
}

// Asked reports whether any setting asks for a failed command to be repeated.
func (s *Settings) Asked() bool {
	if s.From("max-retries") != "" {
		return s.MaxRetries > 0
	}
	for _, name := range []string{"preset", "retry-on-exit", "retry-on", "retry-timeouts"} {
		if s.From(name) != "" {
			return true
		}
	}
	return false
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

// Policy is the preset with what was given over it. An agent has a preset of its own, and is repeated without being
// asked to; any other command is not.
func (s *Settings) Policy(name string, agent bool) retry.Policy {
	p, _ := profile.Preset(s.presetName(name, agent))
	given := func(name string) bool { return s.From(name) != "" }
	if given("max-retries") {
		p.MaxRetries, p.CountThrottles = s.MaxRetries, true
	}
	if !s.Asked() && (!agent || given("max-retries")) {
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
		p.MaxWait = max(s.MaxWait, 1)
	}
	if s.NoWait {
		p.MaxWait = 1
	}
	if given("timeout") {
		p.Timeout = s.Timeout
	}
	p.TotalTimeout, p.RetryTimeouts = s.TotalTimeout, s.RetryTimeouts
	return p
}
