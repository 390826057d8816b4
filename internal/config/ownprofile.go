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
}

// declareProfiles makes the CLIs known that the file declares, and takes what it says of them out of their tables: what is left are
// settings, as in those of other profiles. A project's file declares none.
func declareProfiles(path string, project bool, tables map[string]any, lines map[string]int, wrong func(key, format string, args ...any) error) (own []*ownProfile, _ error) {
	var list []*agent.Descriptor
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		table, ok := tables[name].(map[string]any)
		if !ok || !declares(table, profile.IsBuiltIn(name)) {
			continue
		}
		key := "profile." + name
		if project {
			if err := wrong(key, "%s", message.ProjectMayNot("profiles")); err != nil {
				return nil, err
			}
			delete(tables, name)
			continue
		}
		if profile.IsBuiltIn(name) {
			return nil, wrong(key, "%s is built in and cannot be declared. Give yours another name, such as [profile.my-%s]", name, name)
		}
		d, below, err := definition(name, table)
		if err == nil {
			below, err = commandTaken(d, list)
		}
		if err != nil {
			return nil, wrong(strings.TrimSuffix(key+"."+below, "."), "%w", err)
		}
		if d.Outcomes != "" && !filepath.IsAbs(d.Outcomes) {
			d.Outcomes = filepath.Join(filepath.Dir(path), d.Outcomes)
		}
		own = append(own, &ownProfile{d, lines})
		list = append(list, d.Descriptor())
	}
	if !project {
		profile.Declare(list)
	}
	return own, nil
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
