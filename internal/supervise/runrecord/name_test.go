package runrecord

import (
	"strings"
	"testing"
)

func FuzzParseName(f *testing.F) {
	for _, name := range []string{"3f2a9c1d-4026531836.123.456.0190c0de-0000-7000-8000-000000000000", "0.1.0.a", "0.1.0.a.new",
		"a.b.c.d", "0.-1.0.a", "0.01.0.a", "0.1.18446744073709551616.a", "...", "0.1.2.a,b", "0.1.2.a.new.new", ""} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		rec, ok := parseName(name)
		if !ok {
			return
		}
		// Exactly what Create would have written, and nothing that leads elsewhere.
		if whole := rec.name(); whole != name && whole+replacement != name {
			t.Errorf("%q is taken for %q", name, whole)
		}
		if rec.Owner.PID < 1 || rec.ID == "" || strings.ContainsAny(name, "/,\x00") {
			t.Errorf("%q: %+v", name, rec)
		}
	})
}
