package config

import (
	"bytes"
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/message"
)

// Mistakes in the user's file do not stop what works without it: the wrong key has no effect, and a warning says so once a day. But where a setting protects, to go on
// without it could cost what it was to prevent: then the mistake is an error. So it is where an unknown key was probably meant to be such a setting.

// guardTables are the tables that protect: limits and reserves, what a worker may run, how far a fallback may go, what is counted towards limits, and what is a failure.
var guardTables = []string{"budget", "fallback", "fleet", "prices", "rule"}

// otherTables are those in which nothing but a setting protects.
var otherTables = []string{"alert", "profile", "run"}

// guards reports whether a setting protects.
func (s *Setting) guards() bool {
	_, ok := s.value.(*guard)
	return ok
}

// reader is what reads the setting, whether or not it protects.
func (s *Setting) reader() reader {
	if g, ok := s.value.(*guard); ok {
		return g.reader
	}
	return s.value
}

// guardNamed is the setting or table that protects and has a name, or that was probably meant by it; empty if there is none.
func guardNamed(name string) string {
	s, _ := lookUp(name)
	switch {
	case slices.Contains(guardTables, name):
		return name
	case s != nil && s.guards():
		return s.Key()
	case s != nil || slices.Contains(otherTables, name):
		return ""
	}
	if near := message.Nearest(name, slices.Concat(keys(), guardTables, otherTables)); near != "" {
		return guardNamed(near)
	}
	return ""
}

// guardedBy is what protects and is given, or was probably meant, at a key of the file or below it; empty if nothing is.
func (f *file) guardedBy(key string) string {
	names := strings.Split(key, ".")
	var value any = f.doc
	for _, name := range names {
		table, _ := value.(map[string]any)
		value = table[name]
	}
	switch names[0] {
	case "alert":
		return ""
	case "profile", "run":
		names = names[min(2, len(names)):]
	}
	if len(names) > 0 {
		if by := guardNamed(names[0]); by != "" {
			return by
		}
	}
	return guardBelow(value)
}

// guardBelow is what protects and is named in a table, or in one of those in it; empty if nothing is.
func guardBelow(value any) string {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if by := cmp.Or(guardNamed(key), guardBelow(value[key])); by != "" {
				return by
			}
		}
	case []any:
		for _, one := range value {
			if by := guardBelow(one); by != "" {
				return by
			}
		}
	}
	return ""
}

var word = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

// guardIn is what protects and is named, or nearly so, anywhere in a file that cannot be understood; empty if nothing is. Of one that is not text, as in UTF-16,
// that cannot be said.
func guardIn(data []byte) string {
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return "what it may hold"
	}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for _, name := range word.FindAllString(line, -1) {
			if by := guardNamed(name); by != "" {
				return by
			}
		}
	}
	return ""
}

// Mistakes are all that is wrong in the files and in the environment, for commands in a directory.
func Mistakes(dir string) (list []string) {
	user, err := ReadUser()
	if err != nil {
		return []string{err.Error()}
	}
	for _, o := range user.own {
		if err := user.check(o); err != nil && o.wrong == nil { // else it is ignored already
			list = append(list, err.Error())
		}
	}
	s, _, err := user.Load(Given{"cwd": dir}, generic.Name)
	if err != nil {
		return append(list, err.Error())
	}
	for _, i := range s.Ignored {
		list = append(list, i.String())
	}
	for _, u := range s.Unread {
		if u.Instead != "" {
			list = append(list, u.String())
		}
	}
	return list
}
