package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/certificate"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/shim"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
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
var askTimeout = 15 * time.Second // a test waits for less

// versionNumber is compiled when it is needed: most calls of belay do not need it.
var versionNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+\.\d+\.\d+`) })

// check finds a CLI, asks for its version, and looks whether it is logged in. It makes no network requests itself.
func (c cli) check() []Finding {
	declared := len(c.Commands) > 0 // by the user's file
	command := c.Name
	if declared {
		command = c.Commands[0]
	}
	path, err := lookBehind(command)
	if err != nil {
		return One(c.Name, Note, c.install(), message.CLIMissing())
	}
	out, version, err := askVersion(path)
	if err != nil && declared { // not every CLI tells its version
		return One(c.Name, Note, "", message.CLISilent(term.Tilde(path), err))
	}
	if err != nil {
		return One(c.Name, Wrong, path+" --version", message.CLISilent(term.Tilde(path), err))
	}
	list := One(c.Name, Fine, "", message.CLIVersion(term.Tilde(path), version, c.testedText(version)))
	if version == "" {
		list = One(c.Name, Note, path+" --version", fmt.Sprintf("cannot understand the version of %s: %s", term.Tilde(path), out))
	} else if c.Tested.Outside(version) {
		list[0].Status = Note
	}
	if in, how := c.loggedIn(path); in {
		list = append(list, One(c.Name, Fine, "", "logged in: "+how)...)
	} else if how != "" {
		list = append(list, One(c.Name, Note, c.Login.Command, how)...)
	}
	return list
}

// lookBehind finds a CLI, behind the shim that may be in front of it.
func lookBehind(name string) (string, error) {
	if _, isShim := shim.First(name); isShim {
		found, err := shim.Find(name)
		return found.Path, err
	}
	return supervise.Look(name, "")
}

// Version is the version that a CLI says it has; empty if what it says has none.
func Version(path string) (string, error) {
	_, version, err := askVersion(path)
	return version, err
}

// askVersion is what a CLI says that it is, and the version in that.
func askVersion(path string) (said, version string, err error) {
	said, err = output(path, "--version")
	return said, versionNumber().FindString(said), err
}

// testedText compares a version with those that Belay is tested with.
func (c cli) testedText(version string) string {
	how := c.Tested.Standing(version)
	switch {
	case how != "" && c.Tested.Outside(version):
		dir, _ := state.DefaultDir() // without one there is no certificate
		return "not tested: " + how + certificate.Hint(dir, c.Descriptor, version)
	case how == "" && c.Tested.Has(version):
		return "tested"
	}
	return how
}

// beginning keeps the first 4 KiB of what is written to it.
type beginning []byte

func (b *beginning) Write(p []byte) (int, error) {
	*b = append(*b, p[:min(len(p), 4<<10-len(*b))]...)
	return len(p), nil
}

// output is what a command prints, one that answers at once and reads nothing.
func output(path string, args ...string) (string, error) {
	var out beginning
	var s supervise.Supervisor
	exit, err := s.Run(supervise.Spec{Path: path, Args: append([]string{path}, args...), Env: os.Environ(), Stdout: &out,
		Placement: supervise.OwnGroup, Timeout: askTimeout}, nil)
	switch {
	case err != nil:
	case exit.Reason == supervise.Deadline:
		err = message.Error(fmt.Sprintf("took longer than the %s that belay gives it", askTimeout))
	case exit.ShellCode() != 0:
		err = message.Error(fmt.Sprintf("exited %d", exit.ShellCode()))
	}
	return redact.Text(strings.TrimSpace(string(out))), err
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
		file := filepath.Join(profile.HomeOf(c.Descriptor, os.Environ()), l.File)
		if hasContent(file) {
			return true, term.Tilde(file)
		}
	}
	if len(l.Ask) > 0 {
		if _, err := output(path, l.Ask...); err == nil {
			return true, c.Name + " " + strings.Join(l.Ask, " ") + " succeeds"
		}
	}
	if l.Keychain && runtime.GOOS == "darwin" {
		return false, "login not checked because it is in the keychain"
	}
	return false, l.None
}

func hasContent(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() > 2
}
