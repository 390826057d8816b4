package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Tested are the versions of a CLI that its profile is tested with, the newest first.
type Tested []string

// Has reports whether that version is one of them.
func (t Tested) Has(version string) bool { return slices.Contains(t, version) }

// Standing says in words how another version stands to them; empty for one of them, or if nothing is known.
func (t Tested) Standing(version string) string {
	if len(t) == 0 || version == "" || t.Has(version) {
		return ""
	}
	newest, oldest := t[0], t[len(t)-1]
	switch {
	case CompareVersions(version, newest) > 0:
		return fmt.Sprintf("newer than %s, the newest that is tested; what is not understood is judged by exit code and text", newest)
	case CompareVersions(version, oldest) < 0:
		return fmt.Sprintf("older than %s, the oldest that is tested", oldest)
	}
	return fmt.Sprintf("between %s and %s, which are tested", oldest, newest)
}

// Outside reports whether a version is newer or older than all of them.
func (t Tested) Outside(version string) bool {
	return len(t) > 0 && version != "" && (CompareVersions(version, t[0]) > 0 || CompareVersions(version, t[len(t)-1]) < 0)
}

// CompareVersions orders versions by their numbers, as [cmp.Compare] does. One with fewer numbers is before those that
// begin like it.
func CompareVersions(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(a, b string) int {
		m, _ := strconv.Atoi(a)
		n, _ := strconv.Atoi(b)
		return cmp.Compare(m, n)
	})
}
