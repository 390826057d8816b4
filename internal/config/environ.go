package config

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/message"
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

// Unread is a variable that looks like a setting and is none. It may be the user's own, so it is no mistake; but where its
// name is near to a setting's, the user should be told.
type Unread struct {
	Var string
	// Instead is what was probably meant, another variable or a flag; empty if that is not known.
	Instead string
}

// String says that the variable has no effect, and what would have.
func (u Unread) String() string {
	if strings.HasPrefix(u.Instead, "--") {
		return fmt.Sprintf("%s has no effect because it applies to a single call only. Use %s", u.Var, u.Instead)
	}
	return fmt.Sprintf("%s is not a setting%s", u.Var, message.DidYouMean(u.Instead))
}

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
	if near := Nearest(strings.TrimPrefix(name, prefix), names); near != "" {
		return prefix + strings.ToUpper(near)
	}
	return ""
}
