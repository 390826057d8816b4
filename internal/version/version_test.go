package version

import (
	"runtime/debug"
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
	if got := String(); got != "v7" {
		t.Errorf("got %q", got)
	}
	linked = ""
	if got := String(); got == "" {
		t.Error("there is no version")
	}
}
