package config

import (
	"os"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
)

// environ is the part of the environment that is ours.
func environ() map[string]string {
	var env map[string]string
	for _, kv := range os.Environ() {
		if name, value, ok := strings.Cut(kv, "="); ok && strings.HasPrefix(name, "BELAY_") {
			if env == nil {
				env = map[string]string{}
			}
			env[name] = value
		}
	}
	return env
}

// fromEnviron is what the environment says of a setting, and the variable that does; its own goes before an alias.
func fromEnviron(env map[string]string, t *Setting) (named, bool) {
	if len(env) == 0 || t.ForFlag() {
		return named{}, false
	}
	if v, ok := env[t.Env()]; ok {
		return named{text: v, key: t.Env()}, true
	}
	for i := range aliases {
		if a := &aliases[i]; a.setting == t.Name {
			if v, ok := env[a.env()]; ok {
				return named{text: a.value(v), key: a.env()}, true
			}
		}
	}
	return named{}, false
}

// otherVars are the variables that are no settings of a run.
var otherVars = []string{"BELAY_STATE_DIR", "BELAY_FOLD", "BELAY_RUN_ID", "BELAY_CHARGE", "BELAY_REHEARSAL", "BELAY_ATTEMPT", "BELAY_TASK_ID"}

// unread are the variables of the environment that were not read, in order.
func unread(env map[string]string) (list []Unread) {
	for name := range env {
		if slices.Contains(otherVars, name) {
			continue
		}
		setting, _ := lookUp(strings.ToLower(strings.TrimPrefix(name, "BELAY_")))
		switch {
		case setting == nil:
			list = append(list, Unread{name, nearestVar(name)})
		case setting.ForFlag():
			list = append(list, Unread{name, "--" + setting.Name})
		}
	}
	slices.SortFunc(list, func(a, b Unread) int { return strings.Compare(a.Var, b.Var) })
	return list
}

func nearestVar(name string) string {
	const prefix = "BELAY_"
	var names []string
	for i := range Table {
		if !Table[i].ForFlag() {
			names = append(names, strings.ToLower(strings.TrimPrefix(Table[i].Env(), prefix)))
		}
	}
	for i := range aliases {
		names = append(names, aliases[i].key)
	}
	for _, other := range otherVars {
		names = append(names, strings.ToLower(strings.TrimPrefix(other, prefix)))
	}
	if near := message.Nearest(strings.TrimPrefix(name, prefix), names); near != "" {
		return prefix + strings.ToUpper(near)
	}
	return ""
}

// vendorVar is an environment variable of an agent CLI that stands for one of Belay's settings, and its value.
type vendorVar struct {
	*agent.Variable
	value string
}

func (v vendorVar) read() (string, error) { return v.Read(v.value) }

// vendorEnviron is what the profile's own variables say of its settings, by setting.
func vendorEnviron(name string) map[string]vendorVar {
	cli := profile.Find(name)
	if cli == nil || len(cli.Variables) == 0 {
		return nil
	}
	found := map[string]vendorVar{}
	for i := range cli.Variables {
		v := &cli.Variables[i]
		if value := os.Getenv(v.Name); value != "" {
			found[v.Setting] = vendorVar{v, value}
		}
	}
	return found
}
