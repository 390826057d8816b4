package config

import (
	"slices"
	"strings"
	"testing"
)

// Every alias stands for a setting that files may hold, and is no setting's own name.
func TestAliases_EveryRowIsWhole(t *testing.T) {
	var seen []string
	for i := range aliases {
		a := &aliases[i]
		s := Find(a.setting)
		if s == nil || s.Scope == PerCall {
			t.Fatalf("%s stands for nothing that a file may hold", a.key)
		}
		if Find(strings.ReplaceAll(a.key, "_", "-")) != nil || slices.Contains(seen, a.key) || strings.Contains(a.key, "-") {
			t.Errorf("%s is a name already", a.key)
		}
		if found, by := lookUp(a.key); found != s || by != a || !strings.HasSuffix(s.Help(), a.key) && !strings.Contains(s.Help(), a.key+",") {
			t.Errorf("%s is not found, or not in %q", a.key, s.Help())
		}
		seen = append(seen, a.key)
	}
}
