package gate

import (
	"maps"
	"slices"
)

// sorted lists states by key.
func sorted(states map[string]State) []Entry {
	var list []Entry
	for _, key := range slices.Sorted(maps.Keys(states)) {
		list = append(list, Entry{key, states[key]})
	}
	return list
}
