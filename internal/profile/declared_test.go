package profile_test

import (
	"slices"
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/profile"
)

// What is declared is found by its name and by its commands, after all that is built in, and is gone when nothing is declared.
func TestDeclare(t *testing.T) {
	t.Cleanup(func() { profile.Declare(nil) })
	d := &agent.Descriptor{Name: "toy", Commands: []string{"toybox", "tb"}}
	profile.Declare([]*agent.Descriptor{d})
	if profile.Find("toy") != d || profile.OfCommand("/usr/bin/toybox") != d || profile.OfCommand("tb.exe") != d || profile.OfCommand("toy") != nil {
		t.Error("it is not found as it should be")
	}
	names := profile.Names()
	if n := len(names); names[n-2] != "toy" || names[n-1] != "generic" || !slices.Contains(profile.Presets(), "toy") {
		t.Errorf("%q", names)
	}
	if profile.IsBuiltIn("toy") || !profile.IsBuiltIn("claude") || !profile.IsBuiltIn("generic") {
		t.Error("built in and declared are confused")
	}
	profile.Declare(nil)
	if profile.Find("toy") != nil || len(profile.All()) != len(names)-2 {
		t.Error("it stays")
	}
}
