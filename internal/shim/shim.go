// Package shim knows the directory of links that puts Belay in front of CLIs: a link for each, named after it, to the executable of
// Belay. Started by such a name, Belay finds the real CLI in the rest of PATH ([Find]) and either runs it or becomes it.
//
// A link does no harm after Belay is gone: it dangles, and a search of PATH goes on to the real CLI. Two things keep the search from
// coming back to Belay. [Find] passes over everything that is Belay, whatever it is called and however often its
// directory is on PATH. And every CLI that Belay starts or becomes has a [Mark] in its environment, so that a wrapper which leads
// back to Belay is passed over too.
package shim

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// DefaultDir is where the links are unless the user says otherwise: $XDG_DATA_HOME/belay/shims, else ~/.local/share/belay/shims.
func DefaultDir() (string, error) {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "belay", "shims"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no place for the links: %w", err)
	}
	return filepath.Join(home, ".local", "share", "belay", "shims"), nil
}

// self is the executable that runs; nil if it is gone.
func self() os.FileInfo {
	path, err := os.Executable()
	if err != nil {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return info
}

// isBelay reports whether an executable is Belay: this one, whatever its name, or a link to another one.
func isBelay(path string, info, self os.FileInfo) bool {
	if self != nil && os.SameFile(info, self) {
		return true
	}
	target, err := filepath.EvalSymlinks(path)
	return err == nil && target != path && named(target)
}

// named reports whether a file has the name of an executable of Belay.
func named(path string) bool {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".exe")
	return name == "belay" || strings.HasPrefix(name, "belay-")
}
