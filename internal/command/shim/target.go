package shim

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/shim"
)

// shimTarget are the links that a command is about.
type shimTarget struct{ dir string }

// allNames are the names that there can be links for.
func allNames() []string {
	return profile.NamesOf(profile.Known(), func(*agent.Descriptor) bool { return true })
}

// agentNames are the names of agents: what is linked unless the user says otherwise. gh is called so often, and by so much, that it is
// linked only by its name.
func agentNames() []string { return profile.NamesOf(profile.Known(), (*agent.Descriptor).IsAgent) }

// checkNames refuses names that there can be no links for.
func checkNames(names []string) error {
	for _, name := range names {
		if profile.Find(name) == nil {
			return command.Usage(message.Error(fmt.Sprintf("belay knows no CLI %q", name)), "there are "+message.And(allNames()))
		}
	}
	return nil
}

// shimFailure says why a link could not be made or removed.
func shimFailure(dir, name string, err error) error {
	if errors.Is(err, shim.ErrOther) {
		err = message.Error(filepath.Join(dir, name) + " is not a link to belay; left as it is")
	}
	return command.Fail(err)
}

// flags adds the flags that choose them.
func (t *shimTarget) flags(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false
	cmd.Flags().Var(command.TextValue(&t.dir, "DIR"), "dir", "the directory of the links (default ~/.local/share/belay/shims)")
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return allNames(), cobra.ShellCompDirectiveNoFileComp
	}
}

// directory is the directory of the links, as an absolute path.
func (t *shimTarget) directory() (string, error) {
	if runtime.GOOS == "windows" {
		return "", command.Fail(message.Error("belay shim needs symbolic links, which Windows keeps from most users"))
	}
	dir, err := t.dir, error(nil)
	if dir == "" {
		dir, err = shim.DefaultDir()
	} else {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return "", command.Fail(err)
	}
	if separator := string(filepath.ListSeparator); strings.Contains(dir, separator) {
		return "", command.Usage(message.Error(fmt.Sprintf("%s cannot be on the PATH: it has a %s in its name", dir, separator)), "")
	}
	return dir, nil
}
