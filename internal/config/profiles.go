package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/profile"
)

// Profiles are the names of profiles that files may have settings for.
var Profiles = profile.Names()

// checkProfile refuses an unknown profile: its settings would be ignored silently.
func checkProfile(name string) error {
	if slices.Contains(Profiles, name) {
		return nil
	}
	if near := Nearest(name, Profiles); near != "" {
		return fmt.Errorf("there is no profile %s; did you mean %s?", name, near)
	}
	return fmt.Errorf("there is no profile %s; there are %s", name, strings.Join(Profiles, ", "))
}
