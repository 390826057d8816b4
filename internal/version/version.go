// Package version says which version of Belay this is, and which belay and belayd work together.
package version

import (
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
)

const module = "github.com/belay-run/belay"

// Format numbers what belay and belayd exchange: commands and flags, and the log. Those of the same format work together,
// of whatever versions they are. A release that changes any of it raises the number.
const Format = 1

// unreleased is the version of a build whose commit has no tag.
const unreleased = "0.1.0-dev"

// linked is set by the linker where there is no repository that could tell the version:
// -X github.com/belay-run/belay/internal/version.linked=1.2.3.
var linked string

// String is the version, such as 0.1.0. It has to be looked up in what the executable says of its build, so a call that does not
// show its version should not ask for it.
func String() string {
	if linked != "" {
		return strings.TrimPrefix(linked, "v")
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unreleased
	}
	return of(info)
}

// Full is the version with commit, Go and platform: 0.1.0 (commit 52c78ef12ab3, go1.26.8, linux/amd64).
func Full() string {
	info, _ := debug.ReadBuildInfo()
	commit := ""
	if info != nil {
		commit = commitOf(info)
	}
	return fmt.Sprintf("%s (%s%s, %s/%s)", String(), commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// Pair is what belay tells belayd of itself.
func Pair() string { return String() + "/" + strconv.Itoa(Format) }

// Unpair takes apart what Pair has made. An older belay tells its version alone; its format is empty.
func Unpair(pair string) (version, format string) {
	if i := strings.LastIndexByte(pair, '/'); i >= 0 {
		return pair[:i], pair[i+1:]
	}
	return pair, ""
}

// pseudo is the end of the version that Go makes up for a commit without a tag. It is compiled when it is needed: every start would pay for it.
var pseudo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[-.]\d{14}-[0-9a-f]{12}(\+|$)`) })

// of finds our module in a build: it is the main one of our executables, and another of a program that imports us.
func of(info *debug.BuildInfo) string {
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path != module || m.Version == "" || m.Version == "(devel)" {
			continue
		}
		checkout := m == &info.Main && slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "vcs" })
		if checkout && pseudo().MatchString(m.Version) {
			return unreleased
		}
		return strings.TrimPrefix(m.Version, "v")
	}
	return unreleased
}

// commitOf names the commit of a build from a checkout, with a comma behind it; else it is empty.
func commitOf(info *debug.BuildInfo) string {
	if info.Main.Path != module {
		return ""
	}
	var commit, changed string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = " with changes"
		}
	}
	if commit == "" {
		return ""
	}
	return "commit " + commit + changed + ", "
}
