// Package version says which version of Belay this is. Both executables ask here: belay refuses a belayd of another one.
package version

import (
	"runtime/debug"
	"slices"
	"strings"
)

const module = "github.com/belay-run/belay"

// linked is set by the linker when a release is built: see LDFLAGS in the Makefile.
var linked string

// unreleased is the version of a build from a checkout that the linker was told nothing about. It does not depend on the commit:
// belay and belayd of one checkout work together, whichever of them was built last.
const unreleased = "0.1.0-dev"

// String is the version: what the linker was told, else the one that `go install` has fetched. That has to be looked up, so a
// call that does not show its version should not ask for it.
func String() string {
	if linked != "" {
		return linked
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unreleased
	}
	return of(info)
}

// of finds our module in a build: it is the main one of our executables, and another of a program that imports us.
func of(info *debug.BuildInfo) string {
	if slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "vcs" }) && info.Main.Path == module {
		return unreleased
	}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path == module && m.Version != "" && m.Version != "(devel)" {
			return strings.TrimPrefix(m.Version, "v")
		}
	}
	return unreleased
}
