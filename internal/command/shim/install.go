package shim

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/shim"
	"github.com/belay-run/belay/internal/term"
)

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
is changed. Links that are there already stay, and something else of that name is never overwritten. With the link of claude its settings get a processWrapper, so
that what claude --bg runs is on record, too; one of your own stays.`,
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
	for _, name := range linked {
		launch(w, profile.Find(name).Client, belay)
	}
	if len(linked) > 0 {
		term.Line(w, message.ShimsLinked(linked, dir, belay, anything))
		sayPath(w, dir)
	}
	return failed
}

// launch puts belay in front of what a CLI starts in the background, if it can.
func launch(w io.Writer, client *clientfile.Client, belay string) {
	if client == nil || client.Launcher == "" {
		return
	}
	path, changed, err := client.SetLauncher(belay, false)
	switch {
	case err != nil:
		term.Line(w, fmt.Sprintf("What %s runs in the background does not go through belay: %s in %s is not set: %v.", client.Name, client.Launcher, term.Tilde(path), err))
	case changed:
		term.Line(w, fmt.Sprintf("What %s runs in the background goes through belay, too: %s in %s.", client.Name, client.Launcher, term.Tilde(path)))
	}
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
