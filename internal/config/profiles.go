package config

import (
	"slices"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
)

// Profiles are the names of profiles that files may have settings for.
func Profiles() []string { return profile.Names() }

// checkProfile refuses an unknown profile: its settings would be ignored silently.
func checkProfile(name string) error {
	names := Profiles()
	if slices.Contains(names, name) {
		return nil
	}
	return message.Error(message.NoProfile(name, Nearest(name, names), names))
}
