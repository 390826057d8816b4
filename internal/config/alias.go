package config

import (
	"strings"

	"github.com/belay-run/belay/internal/message"
)

// alias is the name that another program has for one of Belay's settings, for users who know that program. It is accepted
// in files and, as BELAY_NAME, in the environment. The command line has one name for one thing.
type alias struct {
	key     string // in a file
	setting string
	convert func(string) string // nil if the value means the same
}

var aliases = []alias{
	{"exponential_base", "factor", nil},
	{"retry_base_delay", "base-delay", nil},
	{"retry_delay", "base-delay", nil},
	{"jitter_factor", "jitter", func(v string) string { return "proportional:" + v }},
	{"no_output_timeout", "stall-timeout", nil},
	{"failure_threshold", "breaker-failures", nil},
	{"recovery_timeout", "breaker-open", nil},
	{"success_threshold", "breaker-successes", nil},
	{"tags", "tag", nil},
}

func (a *alias) env() string { return "BELAY_" + strings.ToUpper(a.key) }

// value is what the alias's value means for the setting.
func (a *alias) value(text string) string {
	if a.convert == nil {
		return text
	}
	return a.convert(text)
}

// lookUp finds the setting that a key of a file names, and the alias by which it does; nil for its own name.
func lookUp(key string) (*Setting, *alias) {
	for i := range aliases {
		if a := &aliases[i]; a.key == key {
			return Find(a.setting), a
		}
	}
	if strings.Contains(key, "-") {
		return nil, nil
	}
	return Find(strings.ReplaceAll(key, "_", "-")), nil
}

// Aliases are the further names of the setting in a file.
func (s *Setting) Aliases() (keys []string) {
	for i := range aliases {
		if aliases[i].setting == s.Name {
			keys = append(keys, aliases[i].key)
		}
	}
	return keys
}

// Help is the usage with the further names.
func (s *Setting) Help() string {
	if keys := s.Aliases(); len(keys) > 0 {
		return s.Usage() + "; also " + strings.Join(keys, ", ")
	}
	return s.Usage()
}

// keys are all names that a file may use.
func keys() []string {
	var list []string
	for i := range Table {
		list = append(list, Table[i].Key())
	}
	for i := range aliases {
		list = append(list, aliases[i].key)
	}
	return list
}

// named is a value, and the key or variable that gives it; in a file also the line.
type named struct {
	text, key string
	line      int
}

// twoNames finds a setting that a table of a file names twice: it would not be clear which of the two holds. It returns the
// key that is one too many, and what to say of it; empty if there is none.
func twoNames(table map[string]any, line func(key string) int) (key, text string) {
	for i := range aliases {
		a := &aliases[i]
		if _, there := table[a.key]; !there {
			continue
		}
		s := Find(a.setting)
		for _, other := range append([]string{s.Key()}, s.Aliases()...) {
			if other == a.key {
				break
			}
			if _, there := table[other]; there {
				as := ""
				if other != s.Key() {
					as = other
				}
				return a.key, message.OtherName(s.Key(), as, line(other))
			}
		}
	}
	return "", ""
}
