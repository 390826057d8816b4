package gh

import "maps"

// Commands are the commands of the table.
func Commands() []string {
	var names []string
	for name := range maps.Keys(commands()) {
		names = append(names, name)
	}
	return names
}

// CommandOf is the command that these words are, by the table; empty if it is none of gh's.
func CommandOf(words ...string) string {
	if l := read(words, ""); l.known {
		return l.command
	}
	return ""
}
