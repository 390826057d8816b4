package agent

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Tested are the versions of a CLI that its profile is tested with, the newest first.
type Tested []string

// Versioned is a Profile that knows which versions of its CLI it is tested with.
type Versioned interface {
	Tested() Tested
}

// VersionTeller is a [Listener] that has learned which version of the CLI it reads; empty if it has not.
type VersionTeller interface {
	Version() string
}

// Has reports whether that version is one of them.
func (t Tested) Has(version string) bool { return slices.Contains(t, version) }

// Standing says in words how another version stands to them; empty for one of them, or if nothing is known.
func (t Tested) Standing(version string) string {
	if len(t) == 0 || version == "" || t.Has(version) {
		return ""
	}
	newest, oldest := t[0], t[len(t)-1]
	switch {
	case compareVersions(version, newest) > 0:
		return fmt.Sprintf("newer than %s, the newest that is tested; what is not understood is judged by exit code and text", newest)
	case compareVersions(version, oldest) < 0:
		return fmt.Sprintf("older than %s, the oldest that is tested", oldest)
	}
	return fmt.Sprintf("between %s and %s, which are tested", oldest, newest)
}

// Outside reports whether a version is newer or older than all of them.
func (t Tested) Outside(version string) bool {
	return len(t) > 0 && version != "" && (compareVersions(version, t[0]) > 0 || compareVersions(version, t[len(t)-1]) < 0)
}

func compareVersions(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		x, _ := strconv.Atoi(as[i])
		y, _ := strconv.Atoi(bs[i])
		if x != y {
			return x - y
		}
	}
	return len(as) - len(bs)
}
