package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/profile"
)

// Profiles are the names that files may speak of.
var Profiles = profile.Names()

// checkProfile refuses a profile that there is not: what is said of it would be silently without effect.
func checkProfile(name string) error {
	if slices.Contains(Profiles, name) {
		return nil
	}
	if near := Nearest(name, Profiles); near != "" {
		return fmt.Errorf("there is no profile %s; did you mean %s?", name, near)
	}
	return fmt.Errorf("there is no profile %s; there are %s", name, strings.Join(Profiles, ", "))
}
