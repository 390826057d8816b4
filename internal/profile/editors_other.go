//go:build !darwin && !windows

package profile

// Editors keep the user's settings in the directory that configVar names, or in configDir below the home directory.
const (
	configVar = "XDG_CONFIG_HOME"
	configDir = ".config"
)
