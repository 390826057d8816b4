package companion

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/supervise"
)

// cli is a command that Belay knows, as doctor looks at it.
type cli struct{ *agent.Descriptor }

// install is what to type if it is not there.
func (c cli) install() string {
	for _, way := range c.Install {
		if way.With == "" {
			return way.Command
		}
		if _, err := supervise.Look(way.With, ""); err == nil {
			return way.Command
		}
	}
	return ""
}

// askTimeout is how long a CLI may take to say what it is.
const askTimeout = 15 * time.Second

var versionNumber = regexp.MustCompile(`\d+\.\d+\.\d+`)

// check finds a CLI, asks for its version, and looks whether it is logged in. It makes no network requests itself.
func (c cli) check() []finding {
	path, err := supervise.Look(c.Name, "")
	if err != nil {
		return one(c.Name, note, c.install(), "is not on the PATH")
	}
	out, err := output(path, "--version")
	if err != nil {
		return one(c.Name, wrong, path+" --version", "%s does not say its version: %v", tilde(path), err)
	}
	version := versionNumber.FindString(out)
	list := one(c.Name, fine, "", "%s, version %s%s", tilde(path), version, c.testedText(version))
	if version == "" {
		list = one(c.Name, note, path+" --version", "%s says no version that is understood: %s", tilde(path), out)
	} else if c.Tested.Outside(version) {
		list[0].Status = note
	}
	if in, how := c.loggedIn(path); in {
		list = append(list, one(c.Name, fine, "", "logged in: %s", how)...)
	} else {
		list = append(list, one(c.Name, note, c.Login.Command, "%s", how)...)
	}
	return list
}

// testedText compares a version with those that Belay is tested with.
func (c cli) testedText(version string) string {
	switch how := c.Tested.Standing(version); {
	case how != "" && c.Tested.Outside(version):
		return ", not tested: " + how
	case how != "":
		return ", " + how
	case c.Tested.Has(version):
		return ", tested"
	}
	return ""
}

// output is what a command prints, one that answers at once and reads nothing.
func output(path string, args ...string) (string, error) {
	var out bytes.Buffer
	var s supervise.Supervisor
	exit, err := s.Run(supervise.Spec{Path: path, Args: append([]string{path}, args...), Env: os.Environ(), Stdout: &limited{to: &out, left: 4096},
		Placement: supervise.OwnGroup, Timeout: askTimeout}, nil)
	if err == nil && exit.ShellCode() != 0 {
		err = fmt.Errorf("it ended with %d", exit.ShellCode())
	}
	return redact.Text(strings.TrimSpace(out.String())), err
}

// loggedIn looks for credentials, and says which there are. The service is not asked.
func (c cli) loggedIn(path string) (in bool, how string) {
	l := &c.Login
	for _, name := range l.Variables {
		if os.Getenv(name) != "" {
			return true, name + " is set"
		}
	}
	if l.File != "" {
		file := filepath.Join(homeOf(c.HomeVar, c.HomeDir), l.File)
		if hasContent(file) {
			return true, tilde(file)
		}
	}
	if len(l.Ask) > 0 {
		if _, err := output(path, l.Ask...); err == nil {
			return true, c.Name + " " + strings.Join(l.Ask, " ") + " has one"
		}
	}
	if l.Keychain && runtime.GOOS == "darwin" {
		return false, "whether it is logged in is in the keychain, which is not asked"
	}
	return false, l.None
}

// homeOf is where a CLI keeps its own things.
func homeOf(variable, name string) string {
	if dir := os.Getenv(variable); dir != "" {
		return dir
	}
	home, _ := os.UserHomeDir()
	return filepath.Join(home, name)
}

func hasContent(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() > 2
}
