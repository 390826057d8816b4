package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/custom"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
)

// ownProfile is a CLI that the user's file declares: a table [profile.NAME] with the key command.
type ownProfile struct {
	*custom.Definition
	lines map[string]int // of the file
}

// declareProfiles makes the CLIs known that the file declares, and takes what it says of them out of their tables: what is left are
// settings, as in those of other profiles. A project's file declares none.
func (f *file) declareProfiles(tables map[string]any, lines map[string]int, wrong func(key, format string, args ...any) error) error {
	var list []*agent.Descriptor
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		table, ok := tables[name].(map[string]any)
		if !ok || !declares(table, profile.IsBuiltIn(name)) {
			continue
		}
		key := "profile." + name
		if f.project {
			if err := wrong(key, "%s", message.ProjectMayNot("profiles")); err != nil {
				return err
			}
			delete(tables, name)
			continue
		}
		if profile.IsBuiltIn(name) {
			return wrong(key, "%s is built in and cannot be declared. Give yours another name, such as [profile.my-%s]", name, name)
		}
		d, below, err := definition(name, table)
		if err == nil {
			below, err = commandTaken(d, list)
		}
		if err != nil {
			return wrong(strings.TrimSuffix(key+"."+below, "."), "%w", err)
		}
		if d.Outcomes != "" && !filepath.IsAbs(d.Outcomes) {
			d.Outcomes = filepath.Join(filepath.Dir(f.path), d.Outcomes)
		}
		f.own = append(f.own, &ownProfile{d, lines})
		list = append(list, d.Descriptor())
	}
	if !f.project {
		profile.Declare(list)
	}
	return nil
}

// declares reports whether a table says what a CLI is, and does not only set something for one. Of a built-in CLI any such key is a
// mistake; of another it takes the command, since else a mistyped name would declare one.
func declares(table map[string]any, builtIn bool) bool {
	if _, ok := table["command"]; ok || !builtIn {
		return ok
	}
	return slices.ContainsFunc(definitionKeys, func(key string) bool { _, ok := table[key]; return ok && key != "prompt" })
}

// commandTaken says that a command of the profile belongs to another one.
func commandTaken(d *custom.Definition, others []*agent.Descriptor) (key string, err error) {
	for _, command := range d.Commands {
		if profile.IsBuiltIn(command) {
			return "command", message.Error(fmt.Sprintf("%s has a profile that is built in", command))
		}
		for _, other := range others {
			if slices.Contains(other.Commands, command) {
				return "command", message.Error(fmt.Sprintf("%s is already the command of [profile.%s]", command, other.Name))
			}
		}
	}
	return "", nil
}

// check compiles the patterns of a profile that the file declares. The error is a [*Mistake].
func (f *file) check(o *ownProfile) error {
	err := o.Check()
	if err == nil {
		return nil
	}
	wrong, _ := errors.AsType[*custom.KeyError](err)
	key := "profile." + o.Name + "." + wrong.Key
	return f.mistake(key, &Mistake{Path: f.path, Line: lineOf(o.lines, key), Err: wrong.Err})
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

// OwnProfile is what the user's file says of a CLI that it declares, checked; nil if it declares none of that name.
func OwnProfile(name string) (*custom.Definition, error) {
	f, err := readUser()
	if err != nil || f == nil {
		return nil, err
	}
	for _, o := range f.own {
		if o.Name == name {
			return o.Definition, f.check(o)
		}
	}
	return nil, nil
}

// Profiles are the names of profiles that files may have settings for.
func Profiles() []string { return profile.Names() }

// checkProfile refuses an unknown profile: its settings would be ignored silently.
func checkProfile(name string) error {
	names := Profiles()
	if slices.Contains(names, name) {
		return nil
	}
	return message.Error(message.NoProfile(name, Nearest(name, names), names))
}
