package journal

// generic is the profile of a plain command.
const generic = "generic"

// Integration is what the failures of an entry are counted by: its profile, or for a plain command, which has none of its
// own, the command's name.
func (e *Entry) Integration() string { return Integration(e.Profile, e.Command) }

// Integration is what the failures of a command with that profile are counted by.
func Integration(profile, command string) string {
	if profile == generic && command != "" {
		return command
	}
	return profile
}
