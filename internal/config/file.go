package config

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/verdict"
)

// file is one configuration file, checked.
type file struct {
	path    string
	project bool
	values  map[string]named            // setting → value, for all profiles
	profile map[string]map[string]named // the same for one profile
	rules   []Rule
	alerts  alert.Config
}

// Rule is a user's rule for the verdict on one profile's outcomes, or on all.
type Rule struct {
	verdict.Rule
	Profile string `toml:"profile"`
}

// readFile reads a configuration file. A missing one is no error, and nil.
func readFile(path string, project bool) (*file, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &Mistake{Path: path, Err: fmt.Errorf("cannot be read: %w", err)}
	}
	return parseFile(path, data, project)
}

// parseFile checks every key and every value: a mistyped one must not be ignored silently.
func parseFile(path string, data []byte, project bool) (*file, error) {
	f := &file{path: path, project: project, values: map[string]named{}, profile: map[string]map[string]named{}}
	var doc map[string]any
	if err := toml.Unmarshal(data, &doc); err != nil {
		return nil, notTOML(path, data, err)
	}
	lines := lineNumbers(data)
	at := func(key string, format string, args ...any) error {
		return &Mistake{Path: path, Line: lines[key], Err: fmt.Errorf("%s: %s", key, fmt.Sprintf(format, args...))}
	}
	if key, text := twoNames(doc, func(key string) int { return lines[key] }); key != "" {
		return nil, at(key, "%s", text)
	}
	for key, value := range doc {
		switch key {
		case "rule":
			if project {
				return nil, at(key, "a project's file may not hold rules; put them into your own config.toml")
			}
			if err := f.addRules(data); err != nil {
				return nil, at(key, "%v", err)
			}
		case "alert":
			if project {
				return nil, at(key, "a project's file may not set alerts; put them into your own config.toml")
			}
			var err error
			var wrong string
			if f.alerts, wrong, err = alertConfig(value); err != nil {
				return nil, at(wrong, "%v", err)
			}
		case "profile":
			tables, ok := value.(map[string]any)
			if !ok {
				return nil, at(key, "must be a table, as [profile.generic]")
			}
			for name, table := range tables {
				settings, ok := table.(map[string]any)
				if !ok {
					return nil, at(key+"."+name, "must be a table")
				}
				if err := checkProfile(name); err != nil {
					return nil, at(key+"."+name, "%v", err)
				}
				prefix := key + "." + name + "."
				if k, text := twoNames(settings, func(k string) int { return lines[prefix+k] }); k != "" {
					return nil, at(prefix+k, "%s", text)
				}
				f.profile[name] = map[string]named{}
				for k, v := range settings {
					if err := f.set(f.profile[name], k, v); err != nil {
						return nil, at(prefix+k, "%v", err)
					}
				}
			}
		default:
			if err := f.set(f.values, key, value); err != nil {
				return nil, at(key, "%v", err)
			}
		}
	}
	return f, nil
}

// set checks one setting of the file and puts it into a table under the setting's own key.
func (f *file) set(table map[string]named, key string, v any) error {
	s, by := lookUp(key)
	switch {
	case s == nil:
		return fmt.Errorf("unknown key%s", suggestion(key))
	case s.Scope == PerCall:
		return fmt.Errorf("belongs to one call; give it as --%s", s.Name)
	case f.project && s.Scope != Policy:
		return errors.New("a project's file may not set this; put it into your own config.toml")
	}
	text, err := flat(v)
	if err != nil {
		return err
	}
	if by != nil {
		text = by.value(text)
	}
	table[s.Key()] = named{text, key}
	return s.Check(text)
}

// flat writes a value of the file as it would be written on the command line.
func flat(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	case []any:
		var parts []string
		for _, e := range v {
			part, err := flat(e)
			if err != nil {
				return "", err
			}
			parts = append(parts, part)
		}
		return strings.Join(parts, ","), nil
	}
	return "", fmt.Errorf("takes a text, a number, true or false, or a list, not %T", v)
}

func (f *file) addRules(data []byte) error {
	var doc struct {
		Rule []Rule `toml:"rule"`
	}
	if err := toml.Unmarshal(data, &doc); err != nil {
		return err
	}
	var strict struct {
		Rule    []Rule         `toml:"rule"`
		Profile map[string]any `toml:"profile"`
	}
	dec := toml.NewDecoder(strings.NewReader(string(data))).DisallowUnknownFields()
	var missing *toml.StrictMissingError
	if err := dec.Decode(&strict); errors.As(err, &missing) {
		for _, e := range missing.Errors {
			if k := e.Key(); len(k) > 1 && k[0] == "rule" {
				row, _ := e.Position()
				return fmt.Errorf("unknown key %s in line %d", k[len(k)-1], row)
			}
		}
	}
	for i, r := range doc.Rule {
		if r.Name == "" {
			return fmt.Errorf("rule %d has no name", i+1)
		}
		if r.Profile != "" {
			if err := checkProfile(r.Profile); err != nil {
				return fmt.Errorf("rule %s: %w", r.Name, err)
			}
		}
		if _, err := verdict.Compile(r.Rule); err != nil {
			return err
		}
	}
	f.rules = doc.Rule
	return nil
}
