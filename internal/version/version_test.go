package version

import (
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	ours := func(version string) debug.Module { return debug.Module{Path: module, Version: version} }
	dependency := ours("v1.2.3")
	for _, tt := range []struct {
		name  string
		build debug.BuildInfo
		want  string
	}{
		{"Installed", debug.BuildInfo{Main: ours("v1.2.3")}, "1.2.3"},
		{"Checkout", debug.BuildInfo{Main: ours("v0.0.0-20261116032608-5efdf3412345+dirty"), Settings: []debug.BuildSetting{{Key: "vcs", Value: "git"}}}, unreleased},
		{"Tag", debug.BuildInfo{Main: ours("v0.2.0"), Settings: []debug.BuildSetting{{Key: "vcs", Value: "git"}}}, "0.2.0"},
		{"TagWithChanges", debug.BuildInfo{Main: ours("v0.2.0+dirty"), Settings: []debug.BuildSetting{{Key: "vcs", Value: "git"}}}, "0.2.0+dirty"},
		{"AfterATag", debug.BuildInfo{Main: ours("v0.2.1-0.20261116032608-5efdf3412345"), Settings: []debug.BuildSetting{{Key: "vcs", Value: "git"}}}, unreleased},
		{"InstalledWithoutATag", debug.BuildInfo{Main: ours("v0.0.0-20261116032608-5efdf3412345")}, "0.0.0-20261116032608-5efdf3412345"},
		{"NoRepository", debug.BuildInfo{Main: ours("(devel)")}, unreleased},
		{"Dependency", debug.BuildInfo{Main: debug.Module{Path: "example.com/x", Version: "v9.0.0"}, Deps: []*debug.Module{&dependency}}, "1.2.3"},
		{"Elsewhere", debug.BuildInfo{Main: debug.Module{Path: "example.com/x", Version: "v9.0.0"}}, unreleased},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := of(&tt.build); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// What the linker says goes before what the build knows.
func TestString_Linked(t *testing.T) {
	defer func(before string) { linked = before }(linked)
	linked = "v7"
	if got := String(); got != "7" {
		t.Errorf("got %q", got)
	}
	linked = ""
	if got := String(); got == "" {
		t.Error("there is no version")
	}
}

func TestFull(t *testing.T) {
	info := &debug.BuildInfo{Main: debug.Module{Path: module}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "52c78ef12ab34"}, {Key: "vcs.modified", Value: "true"}}}
	if got := commitOf(info); got != "commit 52c78ef12ab3 with changes, " {
		t.Errorf("%q", got)
	}
	if got := commitOf(&debug.BuildInfo{Main: debug.Module{Path: module}}); got != "" {
		t.Errorf("%q without a repository", got)
	}
	if got := Full(); !strings.Contains(got, runtime.Version()+", "+runtime.GOOS+"/"+runtime.GOARCH+")") {
		t.Errorf("%q", got)
	}
}

func TestPair(t *testing.T) {
	if version, format := Unpair(Pair()); version != String() || format != strconv.Itoa(Format) {
		t.Errorf("%q, %q", version, format)
	}
	if version, format := Unpair("0.1.0-dev"); version != "0.1.0-dev" || format != "" { // what belay told before there were formats
		t.Errorf("%q, %q", version, format)
	}
}
