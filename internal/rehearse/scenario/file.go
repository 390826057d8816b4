// Package scenario tests a program against services that fail on purpose.
//
// A [Scenario] is a file that people keep in their repositories: the script of the stand-ins, the program (a shell script, an SDK's, gh, an agent through
// belay run or without it), the files it starts with, and what is expected of it. [Read] reads one, with what it extends and all of its variations; a mistake
// is an error with file and line, and nothing is started. [Scenario.Run] gives it stand-ins and a home of its own and returns what was [Seen]: requests and
// gaps by the clock of the stand-ins, exit code, output, files, effects, cost, and what is still running. [Expect.Check] holds that against what was expected.
// A [Report] is for people, for programs, for JUnit and for GitHub Actions.
package scenario

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/safefile"
)

// Scenario is one test. The zero value of each field stands for its default.
type Scenario struct {
	// Name says what is tested; that of the file if it is empty. Variations have theirs behind it.
	Name string `toml:"name"`
	// Extends is another file, beside this one, that has what this one does not say.
	Extends string `toml:"extends"`
	// Script is what the stand-ins do, as in belay rehearse.
	Script string `toml:"script"`
	// Command is the program with its arguments; Shell is a line for sh instead.
	Command []string `toml:"command"`
	Shell   string   `toml:"shell"`
	// Env are variables over those of the rehearsal, Stdin is what the program reads.
	Env   map[string]string `toml:"env"`
	Stdin string            `toml:"stdin"`
	// Timeout is how long the program may take (two minutes).
	Timeout Duration `toml:"timeout"`
	// Files are made in the empty directory in which it starts, by name, and Copy are files and directories beside the scenario that are copied into it. With
	// Git that is a repository in which they are committed.
	Files map[string]string `toml:"files"`
	Copy  []string          `toml:"copy"`
	Git   bool              `toml:"git"`
	// GitHub has issues that are there before, by repository.
	GitHub map[string][]Issue `toml:"github"`
	Expect Expect             `toml:"expect"`
	// Vary has variations by kind and name: each has what is other than here. Of several kinds each is tried with each.
	Vary map[string]map[string]Scenario `toml:"vary"`

	File   string     `toml:"-"` // in which it stands
	varied [][]string // the keys of the variations that it is, in the order in which they are put over each other
}

// Issue is one that is on GitHub before the program starts.
type Issue struct {
	Title  string   `toml:"title"`
	Body   string   `toml:"body"`
	Labels []string `toml:"labels"`
}

// maxFile is more than any scenario has. What is nested as deeply as such a file can be does not take the stack.
const maxFile = 256 << 10

// maxVariations is how many scenarios a file may have: kinds that are tried with each other soon make more than there is time for.
const maxVariations = 1000

// Read returns the scenarios of files, and of those in directories that end in .toml, below them too: of each file one, or one for each of its variations. What
// expects nothing is a mistake, unless what is seen is to be written into it.
func Read(toUpdate bool, paths ...string) (all []*Scenario, mistakes error) {
	for _, path := range paths {
		found := false
		err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
			isOne := strings.HasSuffix(name, ".toml") && !strings.HasPrefix(filepath.Base(name), "_")
			if err != nil || d.IsDir() || !isOne && name != path {
				return err
			}
			found = true
			list, err := readFile(name, toUpdate)
			all, mistakes = append(all, list...), errors.Join(mistakes, err)
			return nil
		})
		if err == nil && !found {
			err = fmt.Errorf("%s has no scenario: their names end in .toml, and do not begin with _", path)
		}
		mistakes = errors.Join(mistakes, err)
	}
	return all, mistakes
}

func readFile(path string, toUpdate bool) ([]*Scenario, error) {
	data, err := safefile.ReadRegular(path, maxFile)
	if err != nil {
		return nil, err
	}
	all, err := parse(path, data)
	if err == nil && !toUpdate && slices.ContainsFunc(all, (*Scenario).expectsNothing) {
		err = fmt.Errorf("%s: nothing is expected. Say what, in [expect]: exit = 0", path)
	}
	return all, err
}

// parse makes scenarios of the text of a file.
func parse(path string, data []byte) ([]*Scenario, error) {
	s, err := extend(path, data, 0)
	if err != nil {
		return nil, err
	}
	s.Name = cmp.Or(s.Name, strings.TrimSuffix(filepath.Base(path), ".toml"))
	all := []*Scenario{s}
	for _, kind := range slices.Sorted(maps.Keys(s.Vary)) {
		var next []*Scenario
		if n := len(all) * len(s.Vary[kind]); n == 0 || n > maxVariations {
			return nil, fmt.Errorf("%s: vary.%s: there are %d variations. There can be 1 to %d", path, kind, n, maxVariations)
		}
		for _, base := range all {
			for _, name := range slices.Sorted(maps.Keys(s.Vary[kind])) {
				over := s.Vary[kind][name]
				if over.Extends != "" || over.Vary != nil {
					return nil, fmt.Errorf("%s: vary.%s.%s: a variation has no extends and no vary of its own", path, kind, name)
				}
				varied := base.With(over)
				varied.Name = fmt.Sprintf("%s, %s %s", base.Name, kind, name)
				varied.varied = append(slices.Clip(base.varied), []string{"vary", kind, name})
				next = append(next, varied)
			}
		}
		all = next
	}
	for _, s := range all {
		if key, err := s.Check(); err != nil {
			found := placesOf(data)
			if full := s.find(found, key...); full != "" {
				path = fmt.Sprintf("%s:%d", path, 1+bytes.Count(data[:found[full].from], []byte("\n")))
			}
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return all, nil
}

// extend reads a file over what it extends; depth is how many files extend it.
func extend(path string, data []byte, depth int) (*Scenario, error) {
	s, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %s", path, lineOf(err, data), inWords(err))
	}
	s.File = path
	if s.Extends == "" {
		return s, nil
	}
	if depth > 8 {
		return nil, fmt.Errorf("%s: extends: files extend each other, or there are more than eight of them", path)
	}
	other := filepath.Join(filepath.Dir(path), s.Extends)
	if data, err = safefile.ReadRegular(other, maxFile); err != nil {
		return nil, fmt.Errorf("%s: extends: %w", path, err)
	}
	base, err := extend(other, data, depth+1)
	if err != nil {
		return nil, err
	}
	base.Name = ""
	return base.With(*s), nil
}

func decode(data []byte) (*Scenario, error) {
	s := new(Scenario)
	return s, toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(s)
}

// lineOf is the line that a file cannot be read for: where the file, read to there, is wrong in the same way. The library does not tell it of every value.
func lineOf(err error, data []byte) int {
	lines := bytes.SplitAfter(data, []byte("\n"))
	return 1 + sort.Search(len(lines)-1, func(n int) bool {
		_, before := decode(bytes.Join(lines[:n+1], nil))
		return before != nil && before.Error() == err.Error()
	})
}

// inWords says what is wrong, without what the library says of the line.
func inWords(err error) string {
	if missing, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(missing.Errors) > 0 {
		return "unknown key " + strings.Join(missing.Errors[0].Key(), ".")
	}
	return strings.TrimPrefix(err.Error(), "toml: ")
}

// With is the scenario with what another one says in place of what this one does.
func (s Scenario) With(over Scenario) *Scenario {
	merge(reflect.ValueOf(&s).Elem(), reflect.ValueOf(&over).Elem())
	return &s
}

// merge sets in a struct what another has set: values that are not zero; maps and structs by their entries.
func merge(into, over reflect.Value) {
	for i := range into.NumField() {
		to, from := into.Field(i), over.Field(i)
		switch {
		case !to.CanSet() || from.IsZero():
		case to.Kind() == reflect.Map:
			both := reflect.MakeMap(to.Type())
			for _, m := range []reflect.Value{to, from} {
				for _, key := range m.MapKeys() {
					both.SetMapIndex(key, m.MapIndex(key))
				}
			}
			to.Set(both)
		case to.Type() == reflect.TypeFor[Expect]():
			merge(to, from)
		default:
			to.Set(from)
		}
	}
}

// Check says what is wrong with a scenario, and which key of it, before anything is started.
func (s *Scenario) Check() (key []string, err error) {
	switch {
	case len(s.Command) == 0 && s.Shell == "":
		return nil, errors.New(`there is no program to test. Name one: command = ["./my-script.sh"], or shell = "…"`)
	case len(s.Command) > 0 && s.Shell != "":
		return []string{"shell"}, errors.New("command and shell cannot be used together")
	}
	if _, err := rehearse.Parse(s.script()); err != nil {
		return []string{"script"}, fmt.Errorf("script: %w", err)
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(s.Files)), slices.Collect(maps.Keys(s.Expect.Files))) {
		if !filepath.IsLocal(name) {
			return []string{"files", name}, fmt.Errorf("files: %q is not below the directory of the test", name)
		}
	}
	for _, name := range s.Copy {
		_, err := os.Stat(filepath.Join(filepath.Dir(s.File), name))
		if !filepath.IsLocal(name) {
			err = fmt.Errorf("%q is not below the directory of the scenario", name)
		}
		if err != nil {
			return []string{"copy"}, fmt.Errorf("copy: %w", err)
		}
	}
	return nil, nil
}

func (s *Scenario) expectsNothing() bool { return reflect.ValueOf(s.Expect).IsZero() }

// script is that of a good day, unless there is one.
func (s *Scenario) script() string { return cmp.Or(s.Script, "200") }
