package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/shim"
	"github.com/belay-run/belay/internal/term"
)

func newShim() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "shim COMMAND",
		Short: "Put belay in front of agent CLIs, for every caller",
		Example: `Link claude, codex and the other agents to belay:
  belay shim install
Show what each name reaches, and what SDKs have to be told:
  belay shim status
Remove the links:
  belay shim remove`,
		Long: `Keeps a directory of links for the front of the PATH. Each is named after a CLI and leads to belay. A script, an editor or an SDK that runs 'claude -p' or
'codex exec' then goes through belay run, with --exit-code child --quiet. So do the conversations that SDKs hold.

All else becomes the real CLI at once: interactive use, unknown flags, and commands like login, update or mcp. So does everything when belay cannot work. With
belay removed, the links lead nowhere, and shells find the real CLI.

BELAY_SHIM=off in the environment turns the links off.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newShimInstall(), newShimRemove(), newShimStatus())
	return cmd
}

// shimTarget are the links that a command is about.
type shimTarget struct{ dir string }

// flags adds the flags that choose them.
func (t *shimTarget) flags(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false
	cmd.Flags().Var(command.TextValue(&t.dir, "DIR"), "dir", "the directory of the links (default ~/.local/share/belay/shims)")
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return shimNames(), cobra.ShellCompDirectiveNoFileComp
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

// shimNames are the names that there can be links for.
func shimNames() []string { return profile.NamesOf(func(*agent.Descriptor) bool { return true }) }

// agentNames are the names of agents: what is linked unless the user says otherwise. gh is called so often, and by so much, that it is
// linked only by its name.
func agentNames() []string { return profile.NamesOf((*agent.Descriptor).IsAgent) }

// checkNames refuses names that there can be no links for.
func checkNames(names []string) error {
	for _, name := range names {
		if profile.Find(name) == nil {
			return command.Usage(message.Error(fmt.Sprintf("belay knows no CLI %q", name)), "there are "+message.And(shimNames()))
		}
	}
	return nil
}

func newShimInstall() *cobra.Command {
	var t shimTarget
	cmd := &cobra.Command{
		Use:   "install [flags] [name…]",
		Short: "Make the links",
		Example: `Link all agents:
  belay shim install
Link claude and gh only:
  belay shim install claude gh
Put the links elsewhere:
  belay shim install --dir ~/bin/belay-shims`,
		Long: `Makes links for the CLIs that you name, or for all agents. Prints the line that puts the directory of the links first on the PATH; no file of your shell
is changed. Links that are there already stay, and something else of that name is never overwritten.`,
		RunE: func(cmd *cobra.Command, names []string) error { return installShims(cmd.OutOrStdout(), &t, names) },
	}
	t.flags(cmd)
	return cmd
}

func installShims(w io.Writer, t *shimTarget, names []string) error {
	dir, err := t.directory()
	if err != nil {
		return err
	}
	if err := checkNames(names); err != nil {
		return err
	}
	belay, err := command.Path()
	if err != nil {
		return command.Fail(err)
	}
	if len(names) == 0 {
		names = agentNames()
	}
	var linked []string
	anything, failed := false, error(nil)
	for _, name := range names {
		changed, err := shim.Install(dir, name, belay)
		if err != nil {
			failed = errors.Join(failed, shimFailure(dir, name, err))
			continue
		}
		linked = append(linked, name)
		anything = anything || changed
	}
	if len(linked) > 0 {
		term.Line(w, message.ShimsLinked(linked, dir, belay, anything))
		sayPath(w, dir)
	}
	return failed
}

// shimFailure says why a link could not be made or removed.
func shimFailure(dir, name string, err error) error {
	if errors.Is(err, shim.ErrOther) {
		err = message.Error(filepath.Join(dir, name) + " is not a link to belay; left as it is")
	}
	return command.Fail(err)
}

// sayPath says how the directory is put first on the PATH.
func sayPath(w io.Writer, dir string) {
	first := ""
	if list := filepath.SplitList(os.Getenv("PATH")); len(list) > 0 {
		first = list[0]
	}
	if first == dir {
		term.Line(w, "The directory is first on your PATH already. The line for it is:")
	} else {
		term.Line(w, "Put the directory first on your PATH, in the file that your shell reads at its start:")
	}
	quoted := doubleQuoted(dir)
	term.Printf(w, "  bash, zsh:  export PATH=\"%s:$PATH\"\n  fish:       fish_add_path --move --prepend \"%s\"\n", quoted, quoted)
	term.Line(w, "SDKs do not look on the PATH. To see what to set for them: belay shim status")
}

// doubleQuoted is a text as it stands between double quotes in a shell.
func doubleQuoted(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(text)
}

func newShimRemove() *cobra.Command {
	var t shimTarget
	cmd := &cobra.Command{
		Use:   "remove [flags] [name…]",
		Short: "Remove the links to belay",
		Example: `Remove all links:
  belay shim remove
Remove that of codex:
  belay shim remove codex`,
		Long: `Removes the links of the named CLIs, or all of them, and the directory if nothing is left in it. What is not a link to belay stays.`,
		RunE: func(cmd *cobra.Command, names []string) error {
			dir, err := t.directory()
			if err != nil {
				return err
			}
			if err := checkNames(names); err != nil {
				return err
			}
			removed, err := removeShims(dir, names)
			term.Line(cmd.OutOrStdout(), message.ShimsRemoved(removed, dir))
			return err
		},
	}
	t.flags(cmd)
	return cmd
}

// removeShims removes the links of those CLIs, or all if none is named. Something else is in the way only of one that is named.
func removeShims(dir string, named []string) (removed []string, failed error) {
	names := named
	if len(names) == 0 {
		names = shimNames()
	}
	for _, name := range names {
		gone, err := shim.Remove(dir, name)
		switch {
		case err != nil && (len(named) > 0 || !errors.Is(err, shim.ErrOther)):
			failed = errors.Join(failed, shimFailure(dir, name, err))
		case gone:
			removed = append(removed, name)
		}
	}
	shim.RemoveDir(dir)
	return removed, failed
}
