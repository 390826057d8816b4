package config

import (
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
	wrong *Mistake       // why its runs are refused; nil if nothing is wrong
}

// declareProfiles makes the CLIs known that the file declares, and takes what it says of them out of their tables: what is left are
// settings, as in those of other profiles. A mistake in what it says of one concerns the runs of that CLI alone. A project's file declares none.
func (f *file) declareProfiles(tables map[string]any, lines map[string]int) error {
	var list []*agent.Descriptor
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		table, ok := tables[name].(map[string]any)
		if !ok || !declares(table, profile.IsBuiltIn(name)) {
			continue
		}
		key := "profile." + name
		if f.project {
			f.ignore(key, &Mistake{Line: lineOf(lines, key), Err: message.Error(message.ProjectMayNot("profiles"))})
			delete(tables, name)
			continue
		}
		d, below, err := definition(name, table)
		builtIn := profile.IsBuiltIn(name)
		if builtIn {
			below, err = "", message.Error(fmt.Sprintf("%s is built in and cannot be declared. Give yours another name, such as [profile.my-%s]", name, name))
		} else if d != nil {
			if by, taken := commandTaken(d, list); taken != nil {
				d, below, err = nil, by, taken
			}
		}
		o := &ownProfile{Definition: d, lines: lines}
		if err != nil {
			at := strings.TrimSuffix(key+"."+below, ".")
			m := &Mistake{Path: f.path, Line: lineOf(lines, at), Err: err}
			if builtIn || d == nil || len(d.Commands) == 0 { // it has no runs
				if err := f.mistake(at, m); err != nil {
					return err
				}
				if !builtIn {
					delete(tables, name)
				}
				continue
			}
			f.ignore(at, m)
			o.wrong = &Mistake{Path: m.Path, Line: m.Line, Err: message.Error(fmt.Sprintf("%s: %v", at, err), err)}
		}
		if d.Outcomes != "" && !filepath.IsAbs(d.Outcomes) {
			d.Outcomes = filepath.Join(filepath.Dir(f.path), d.Outcomes)
		}
		f.own = append(f.own, o)
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
