package config

import (
	"os"
	"path/filepath"
	"syscall"
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

// repositoryMarks are what stands at the root of a repository.
var repositoryMarks = []string{".git", ".hg", ".jj", ".svn"}

// projectPlace is where a project's file is.
type projectPlace struct {
	path string // empty if there is none
	// root is the directory that it belongs to: the root of the repository, the home directory or, outside of both, that of the
	// file system.
	root string
	// above is a file that is not read because it is above root; empty if there is none.
	above string
}

// findProject looks for a project's file from dir upward. It looks no further than the root of the repository or the home
// directory, and outside of both only in dir: the directories above may belong to anybody, as /tmp does.
func findProject(dir string) (found projectPlace) {
	dir = withoutLinks(dir) // the root of a repository is a parent of this one
	nearest := nearestFile(dir)
	if nearest == "" {
		return found // as nearly always, at the cost of one look at each directory
	}
	home := homeDir()
	for at := dir; ; at = filepath.Dir(at) {
		if at == home || isRepository(at) || filepath.Dir(at) == at {
			found.root = at
			break
		}
	}
	outside := filepath.Dir(found.root) == found.root && found.root != home && !isRepository(found.root)
	switch in := filepath.Dir(nearest); {
	case outside && in == dir, !outside && len(in) >= len(found.root): // it is on the way up from dir
		found.path = nearest
	default:
		found.above = nearest
	}
	return found
}

// nearestFile is the nearest project's file from a directory upward; empty if there is none.
func nearestFile(dir string) string {
	for dir != "" {
		path := filepath.Join(dir, ProjectFile)
		if _, err := os.Lstat(path); err == nil {
			return path
		}
		if filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

// withoutLinks is the path of a directory that no link is part of; empty if there is none.
func withoutLinks(dir string) string {
	if dir == "." {
		if dir, err := syscall.Getwd(); err == nil {
			return dir
		}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// homeDir is the home directory without links; empty if there is none.
func homeDir() string {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return ""
	}
	if real, err := filepath.EvalSymlinks(home); err == nil {
		return real
	}
	return filepath.Clean(home)
}

// isRepository reports whether a directory is the root of a repository.
func isRepository(dir string) bool {
	for _, mark := range repositoryMarks {
		if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
			return true
		}
	}
	return false
}
