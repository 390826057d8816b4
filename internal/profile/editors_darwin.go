package profile

// Editors keep the user's settings in configDir, below the home directory.
const (
	configVar = ""
	configDir = "Library/Application Support"
)
