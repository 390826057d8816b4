package profile

import (
	"slices"

	"github.com/belay-run/belay/internal/agent"
)

// shipped are the CLIs, by the names of their commands, whose profiles are data that comes with the command. One that the
// user's file declares for the same command, or under the same name, takes their place.
var shipped = []string{"pi", "kimi"}

// loadShipped reads the profile of one of them. A program that uses the library has none.
var loadShipped func(name string) *agent.Descriptor

// Ship says how the profiles are read that come with the command. Nothing is read before the CLI of one is named.
func Ship(load func(name string) *agent.Descriptor) { loadShipped = load }

// Shipped are the names of those that no profile of the user's own replaces.
func Shipped() (names []string) {
	for _, name := range shipped {
		if loadShipped != nil && !slices.ContainsFunc(declared(), func(d *agent.Descriptor) bool { return d.Name == name || slices.Contains(d.Commands, name) }) {
			names = append(names, name)
		}
	}
	return names
}

// findShipped returns the one of that name; nil if there is none.
func findShipped(name string) *agent.Descriptor {
	if !slices.Contains(shipped, name) || !slices.Contains(Shipped(), name) {
		return nil
	}
	return loadShipped(name)
}
