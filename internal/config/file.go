package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/pelletier/go-toml/v2"

	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/verdict"
)

// maxUserFile is more than any user writes by hand.
const maxUserFile = 1 << 20

// file is one configuration file, checked.
type file struct {
	path      string
	project   bool
	doc       map[string]any              // all that it says
	values    map[string]named            // setting → value, for all profiles
	profile   map[string]map[string]named // the same for one profile
	run       map[string]map[string]named // the same for runs of one name
	rules     []Rule
	alerts    alert.Config
	ignored   []Ignored // of a project's file, a mistake in the user's, or that it cannot be reached
	prices    map[string]price.Price
	budgets   map[string]Budget
	own       []*ownProfile       // that it declares
	fallbacks map[string][]string // the arguments of each
	fleet     Fleet
}

// Rule is a user's rule for the verdict on one profile's outcomes, or on all.
type Rule struct {
	verdict.Rule
	Profile string `toml:"profile"`
}

// readUser reads the user's file. A missing one is no error, and nil. One that cannot be reached, because the home is
// another user's as it often is after a change of the user in a container, is ignored: what works without us must not fail.
func readUser() (*file, error) {
	path := UserFile()
	if path == "" {
		return nil, nil
	}
	data, err := safefile.ReadUser(path, maxUserFile)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // HOME=/dev/null is common
		return nil, nil
	}
	if _, unreached := os.Lstat(path); errors.Is(err, os.ErrPermission) && errors.Is(unreached, os.ErrPermission) {
		return &file{path: path, ignored: []Ignored{{Path: path, Why: "it cannot be reached: permission denied"}}}, nil
	}
	if wrong, ok := errors.AsType[*safefile.Error](err); ok {
		return nil, &Mistake{Path: path, Err: errors.New("it " + wrong.Reason)}
	}
	if err != nil {
		return nil, &Mistake{Path: path, Err: message.Error(fmt.Sprintf("cannot be read: %v", err), err)}
	}
	return parseFile(path, data, false)
}

// parseFile checks every key and every value: a mistyped one must not be ignored silently. In the user's file a mistake in what protects is an
// error, so that the user mends it. Any other, and one in a project's file, which others may have written, is ignored, and that is noted.
func parseFile(path string, data []byte, project bool) (*file, error) {
	f := &file{path: path, project: project, values: map[string]named{}, profile: map[string]map[string]named{}, run: map[string]map[string]named{}}
	data = bytes.TrimPrefix(data, []byte("\uFEFF")) // some editors begin every file with it
	var doc map[string]any
	if err := toml.Unmarshal(data, &doc); err != nil {
		return f, f.notTOML(notTOML(path, data, err), data)
	}
	f.doc = doc
	lines := lineNumbers(data)
	wrong := func(key string, format string, args ...any) error {
		return f.mistake(key, &Mistake{Path: path, Line: lineOf(lines, key), Err: fmt.Errorf(format, args...)})
	}
	if tables, ok := doc["profile"].(map[string]any); ok { // before all that may name one
		if err := f.declareProfiles(tables, lines); err != nil {
			return nil, err
		}
	} else if !project {
		profile.Declare(nil)
	}
	if err := f.addTable(f.values, doc, "", lines, wrong); err != nil {
		return nil, err
	}
	for _, t := range f.tables() {
		value, ok := doc[t.name]
		if !ok || !isTable(t.name, value) {
			continue
		}
		of := &fields{}
		switch {
		case project:
			of.fail("", message.Error(message.ProjectMayNot(t.about)))
		case t.name == "rule":
			if err := f.addRules(data); err != nil {
				of.fail("", err)
			}
		default:
			if of.table, ok = value.(map[string]any); !ok {
				of.fail("", message.Error(message.MustBeTable(t.example)))
			}
			t.read(of)
		}
		for _, m := range of.wrong {
			if err := wrong(strings.TrimSuffix(t.name+"."+m.key, "."), "%w", m.err); err != nil {
				return nil, err
			}
		}
	}
	if value, ok := doc["profile"]; ok {
		if err := f.addTables(f.profile, "profile", value, checkProfile, lines, wrong); err != nil {
			return nil, err
		}
	}
	if value, ok := doc["run"]; ok {
		check := func(string) error { return nil }
		if project {
			check = func(string) error { return message.Error(message.ProjectMayNot("settings of single runs")) }
		}
		if err := f.addTables(f.run, "run", value, check, lines, wrong); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(f.ignored, func(a, b Ignored) int { return cmp.Or(a.Line-b.Line, strings.Compare(a.Key, b.Key)) })
	return f, nil
}

// table is one that only the user's file may have.
type table struct {
	name, about, example string
	read                 func(*fields)
}

// tables are those, in the order in which mistakes in them are told.
func (f *file) tables() []table {
	return []table{
		{"rule", "rules", "", nil},
		{"alert", "alerts", "[alert]", func(t *fields) { f.alerts = readAlerts(t) }},
		{"budget", "budgets", "", func(t *fields) { f.budgets = readBudgets(t) }},
		{"fallback", "fallbacks", "", func(t *fields) { f.fallbacks = readFallbacks(t) }},
		{"fleet", "fleet", "[fleet]", func(t *fields) { f.fleet = readFleet(t) }},
		{"prices", "prices", pricesExample, func(t *fields) { f.prices = readPrices(t) }},
	}
}

// mistake returns what is wrong with a key of the user's file that protects; of any other it notes that the key is ignored.
func (f *file) mistake(key string, m *Mistake) error {
	if f.project {
		return f.ignore(key, m)
	}
	by := f.guardedBy(key)
	if by == "" {
		return f.ignore(key, m)
	}
	m.Err = message.Error(message.Unguarded(fmt.Sprintf("%s: %v", key, m.Err), by), m.Err)
	return m
}

// notTOML is the same for a file of which nothing can be understood.
func (f *file) notTOML(m *Mistake, data []byte) error {
	by := ""
	if !f.project {
		by = guardIn(data)
	}
	if by == "" {
		return f.ignore("", m)
	}
	m.Err = message.Error(message.Unguarded(m.Err.Error(), by), m.Err)
	return m
}

// ignore notes that a key is ignored, or the whole file if the key is empty.
func (f *file) ignore(key string, m *Mistake) error {
	f.ignored = append(f.ignored, Ignored{Path: f.path, Line: m.Line, Key: key, Why: m.Err.Error(), Own: !f.project})
	return nil
}

// isTable reports whether a key at the top of a file is no setting. A budget may be either: the one that all runs join, or the
// table of those with rules. So may a fallback.
func isTable(key string, value any) bool {
	switch key {
	case "alert", "fleet", "prices", "profile", "rule", "run":
		return true
	case "budget", "fallback":
		_, ok := value.(map[string]any)
		return ok
	}
	return false
}

// addTable adds the settings of one table of the file, of which prefix is the name with a dot; none for the top of the file.
func (f *file) addTable(to map[string]named, table map[string]any, prefix string, lines map[string]int, wrong func(key, format string, args ...any) error) error {
	for {
		key, text := twoNames(table, func(key string) int { return lines[prefix+key] })
		if key == "" {
			break
		}
		if err := wrong(prefix+key, "%s", text); err != nil {
			return err
		}
		delete(table, key)
	}
	for key, value := range table {
		if prefix == "" && isTable(key, value) {
			continue
		}
		if err := f.set(to, key, value, lines[prefix+key]); err != nil {
			if err := wrong(prefix+key, "%w", err); err != nil {
				return err
			}
		}
	}
	return nil
}

// addTables adds the tables of single profiles, or of runs by their names. check says what is wrong with a name.
func (f *file) addTables(to map[string]map[string]named, kind string, value any, check func(name string) error, lines map[string]int,
	wrong func(key, format string, args ...any) error) error {
	tables, ok := value.(map[string]any)
	if !ok {
		return wrong(kind, "%s", message.MustBeTable("["+kind+".NAME]"))
	}
	for name, table := range tables {
		key := kind + "." + name
		settings, ok := table.(map[string]any)
		err := check(name)
		switch {
		case !ok:
			err = wrong(key, "%s", message.MustBeTable(""))
		case err != nil:
			err = wrong(key, "%w", err)
		default:
			to[name] = map[string]named{}
			err = f.addTable(to[name], settings, key+".", lines, wrong)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// set checks one setting of the file and puts it into a table under the setting's own key.
func (f *file) set(table map[string]named, key string, v any, line int) error {
	s, by := lookUp(key)
	switch {
	case s == nil:
		return message.Error("unknown key" + message.DidYouMean(message.Nearest(key, keys())))
	case s.ForFlag():
		return message.Error("applies to a single call only. Use --" + s.Name)
	case f.project && s.Scope < Lower:
		return message.Error(message.ProjectMayNot("this"))
	}
	if tags, ok := v.(map[string]any); ok && s.Name == "tag" {
		v = tagList(tags)
	}
	text, err := flat(v)
	if err != nil {
		return err
	}
	if by != nil {
		text = by.value(text)
	}
	if err := s.Check(text); err != nil {
		return err
	}
	table[s.Key()] = named{text, key, line}
	return nil
}

// addRules adds the rules for verdicts.
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
				return message.Error(fmt.Sprintf("unknown key %s in line %d", k[len(k)-1], row))
			}
		}
	}
	for i, r := range doc.Rule {
		if r.Name == "" {
			return message.Error(fmt.Sprintf("rule %d has no name", i+1))
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
