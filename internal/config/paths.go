package config

import (
	"os"
	"path/filepath"
)

// UserFile is where the user's own configuration is.
func UserFile() string {
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "belay", "config.toml")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".config", "belay", "config.toml")
}

// ProjectFile is the name of a project's configuration; the nearest upward counts.
const ProjectFile = ".belay.toml"

// findProject returns the nearest project file from dir upward; empty if there is none.
func findProject(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for {
		path := filepath.Join(dir, ProjectFile)
		if _, err := os.Lstat(path); err == nil {
			return path
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}
