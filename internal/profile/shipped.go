package profile

import (
	"os"
	"slices"

	"github.com/belay-run/belay/internal/agent"
)

// shipped are the CLIs, by the names of their commands, whose profiles are data that comes with the command. One that the
// user's file declares for the same command, or under the same name, takes their place.
var shipped []string

// loadShipped reads the profile of one of them.
var loadShipped func(name string) *agent.Descriptor

// Ship says which profiles come with the command, and how they are read, and returns how they were read before. Nothing is read before the CLI of one is
// named, or all that are known are listed.
func Ship(names []string, load func(name string) *agent.Descriptor) (before func(name string) *agent.Descriptor) {
	before = loadShipped
	shipped, loadShipped = names, load
	return before
}

// Shipped are the names of those that no profile of the user's own replaces.
func Shipped() (names []string) {
	for _, name := range shipped {
		if !slices.ContainsFunc(declared(), func(d *agent.Descriptor) bool { return d.Name == name || slices.Contains(d.Commands, name) }) {
			names = append(names, name)
		}
	}
	return names
}

// Known are [All], and those whose profiles come as data of the CLIs that have been used here.
func Known() []*agent.Descriptor {
	list := slices.Clone(All())
	for _, name := range Shipped() {
		if d := loadShipped(name); isUsed(d) {
			list = append(list, d)
		}
	}
	return list
}

// findShipped returns the one of that name; nil if there is none.
func findShipped(name string) *agent.Descriptor {
	if !slices.Contains(shipped, name) || !slices.Contains(Shipped(), name) {
		return nil
	}
	return loadShipped(name)
}

// isUsed reports whether the CLI has ever been at work here. Its name alone says little: pi is also a program that computes digits,
// which an argument of ours would make fail.
func isUsed(d *agent.Descriptor) bool {
	_, err := os.Stat(HomeOf(d, os.Environ()))
	return err == nil
}
