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
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/belay-run/belay/internal/rehearse"
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

	path string // of its file
}

// Issue is one that is on GitHub before the program starts.
type Issue struct {
	Title  string   `toml:"title"`
	Body   string   `toml:"body"`
	Labels []string `toml:"labels"`
}

// Expect is what is expected. What is not set is not asked.
type Expect struct {
	Exit     Number            `toml:"exit"`
	Class    Text              `toml:"class"`    // of the last run of belay run
	Attempts Number            `toml:"attempts"` // of all runs of belay run
	Requests Number            `toml:"requests"` // that are part of the work
	Waits    Number            `toml:"waits"`    // seconds between requests, in all
	Gap      Number            `toml:"gap"`      // seconds between two requests, the shortest
	Time     Number            `toml:"time"`     // seconds from the start to the last answer
	Tokens   Number            `toml:"tokens"`   // charged, in and out
	Cost     Number            `toml:"cost"`     // dollars, of what was charged
	Stdout   Text              `toml:"stdout"`
	Stderr   Text              `toml:"stderr"`
	Files    map[string]Text   `toml:"files"`   // in the directory, at the end
	Effects  map[string]Number `toml:"effects"` // how often "POST /repos/o/r/issues" was carried out
	Issues   map[string]Number `toml:"issues"`  // that repositories of GitHub have at the end, by repository
	Running  Number            `toml:"running"` // processes that are left
}

// Mistake is what is wrong in a file, and where.
type Mistake struct {
	Path string
	Line int // 0 if it is not about a line
	Err  error
}

func (m *Mistake) Error() string {
	if m.Line > 0 {
		return fmt.Sprintf("%s:%d: %v", m.Path, m.Line, m.Err)
	}
	return fmt.Sprintf("%s: %v", m.Path, m.Err)
}

func (m *Mistake) Unwrap() error { return m.Err }

// Find returns the files of scenarios that the paths name: files themselves, and those of directories that end in .toml, below them too.
func Find(paths []string) (files []string, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		before := len(files)
		err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.HasSuffix(name, ".toml") && !strings.HasPrefix(d.Name(), "_") {
				files = append(files, name)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(files) == before {
			return nil, fmt.Errorf("%s has no scenario: their names end in .toml, and do not begin with _", path)
		}
	}
	return files, nil
}

// Read returns the scenarios of a file: one, or one for each of its variations.
func Read(path string) ([]*Scenario, error) {
	s, err := read(path, nil)
	if err != nil {
		return nil, err
	}
	s.Name = cmp.Or(s.Name, strings.TrimSuffix(filepath.Base(path), ".toml"))
	all := []*Scenario{s}
	for _, kind := range slices.Sorted(maps.Keys(s.Vary)) {
		var next []*Scenario
		for _, base := range all {
			for _, name := range slices.Sorted(maps.Keys(s.Vary[kind])) {
				varied := base.With(s.Vary[kind][name])
				varied.Name = fmt.Sprintf("%s, %s %s", base.Name, kind, name)
				next = append(next, varied)
			}
		}
		all = next
	}
	for _, s := range all {
		if err := s.Check(); err != nil {
			return nil, &Mistake{Path: path, Err: err}
		}
	}
	return all, nil
}

// read reads a file over what it extends; seen are the files that extend it.
func read(path string, seen []string) (*Scenario, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := decode(data)
	if err != nil {
		return nil, &Mistake{Path: path, Line: lineOf(err, data), Err: inWords(err)}
	}
	s.path = path
	if s.Extends == "" {
		return s, nil
	}
	if len(seen) > 8 {
		return nil, &Mistake{Path: path, Err: errors.New("extends: files extend each other, or there are more than eight of them")}
	}
	base, err := read(filepath.Join(filepath.Dir(path), s.Extends), append(seen, path))
	if err != nil {
		return nil, err
	}
	both := base.With(*s)
	both.Name, both.path = s.Name, path
	return both, nil
}

func decode(data []byte) (*Scenario, error) {
	s := new(Scenario)
	return s, toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(s)
}

// lineOf is the line that a file cannot be read for. The library does not tell it of every value: then it is where the file, read to there, is wrong in the same way.
func lineOf(err error, data []byte) int {
	if missing, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(missing.Errors) > 0 {
		row, _ := missing.Errors[0].Position()
		return row
	}
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		row, _ := wrong.Position()
		return row
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	for n := range lines {
		if _, before := decode(bytes.Join(lines[:n+1], nil)); before != nil && before.Error() == err.Error() {
			return n + 1
		}
	}
	return 0
}

// inWords says what is wrong, without what the library says of the line.
func inWords(err error) error {
	if missing, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(missing.Errors) > 0 {
		return fmt.Errorf("unknown key %s", strings.Join(missing.Errors[0].Key(), "."))
	}
	return errors.New(strings.TrimPrefix(err.Error(), "toml: "))
}

// With is the scenario with what another one says in place of what this one does.
func (s *Scenario) With(over Scenario) *Scenario {
	both := *s
	merge(reflect.ValueOf(&both).Elem(), reflect.ValueOf(&over).Elem())
	return &both
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

// Check says what a scenario lacks, before anything is started.
func (s *Scenario) Check() error {
	switch {
	case len(s.Command) == 0 && s.Shell == "":
		return errors.New(`there is no program to test. Name one: command = ["./my-script.sh"], or shell = "…"`)
	case len(s.Command) > 0 && s.Shell != "":
		return errors.New("command and shell cannot be used together")
	case reflect.ValueOf(s.Expect).IsZero():
		return errors.New("nothing is expected. Say what, in [expect]: exit = 0")
	}
	if _, err := rehearse.Parse(s.script()); err != nil {
		return fmt.Errorf("script: %w", err)
	}
	for name := range s.Files {
		if !filepath.IsLocal(name) {
			return fmt.Errorf("files: %q is not below the directory of the test", name)
		}
	}
	for _, name := range s.Copy {
		if !filepath.IsLocal(name) {
			return fmt.Errorf("copy: %q is not below the directory of the scenario", name)
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(s.path), name)); err != nil {
			return fmt.Errorf("copy: %w", err)
		}
	}
	return nil
}

// script is that of a good day, unless there is one.
func (s *Scenario) script() string { return cmp.Or(s.Script, "200") }
