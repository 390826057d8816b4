package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/version"
)

// companionName is the executable that does what weighs too much for every call to carry.
const companionName = "belayd"

// runCompanion hands this process over to belayd, or runs it and ends with its code where that cannot be done. It finds
// out by itself whether it is of our version.
func runCompanion(what string, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return &failure{err}
	}
	path, err := findCompanion(self)
	if err != nil {
		return &hintError{&failure{fmt.Errorf("belay %s needs %s, which is neither beside belay nor on the PATH", what, companionName)},
			"to get both: make install"}
	}
	argv := append([]string{path, "--for", version.String(), "--belay", self, what}, args...)
	code, err := becomeCompanion(path, argv)
	if err != nil {
		return &failure{fmt.Errorf("%s could not be started: %w", path, err)}
	}
	return exit(code)
}

// findCompanion looks beside belay, also where a link to it leads, and then on the PATH.
func findCompanion(self string) (string, error) {
	name := companionName
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	places := []string{self}
	if target, err := filepath.EvalSymlinks(self); err == nil && target != self {
		places = append(places, target)
	}
	for _, place := range places {
		path := filepath.Join(filepath.Dir(place), name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	path, err := supervise.Look(companionName, "")
	if err != nil {
		return "", errors.Join(os.ErrNotExist, err)
	}
	return path, nil
}
