// Package uninstallall is belay uninstall-all: it takes belay out of all clients' files.
package uninstallall

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/clientfile/target"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/command/shim"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/term"
)

// New makes belay uninstall-all.
func New() *cobra.Command {
	var dryRun, yes bool
	cmd := &cobra.Command{
		Use:   "uninstall-all --dry-run | --yes",
		Short: "Take belay out of every client's files, before it is removed",
		Example: `See what would change:
  belay uninstall-all --dry-run
Change it:
  belay uninstall-all --yes`,
		Long: `Undoes, byte for byte, what 'belay hook install' and 'belay mcp install' have changed. This covers your
own files, for all projects that they name, and the files of the current directory. The links of
'belay shim install' are removed, and the processWrapper in claude's settings. What you have put behind belay by hand stays, and is named. Do this before you remove belay: a client that calls a
belay that is gone has lost its hooks and servers. What else there is to remove: https://github.com/belay-run/belay/blob/main/docs/install.md#remove-every-trace`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dryRun == yes {
				return command.Usage(message.Error("say what to do"), "--dry-run shows what would change, --yes changes it")
			}
			return uninstallAll(cmd.OutOrStdout(), dryRun)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would change, and change nothing")
	cmd.Flags().BoolVar(&yes, "yes", false, "change it")
	return cmd
}

// uninstallAll goes on after a file that cannot be edited: what can be undone is.
func uninstallAll(w io.Writer, dryRun bool) error {
	places, err := installedPlaces()
	if err != nil {
		return err
	}
	done, failed := 0, error(nil)
	for _, l := range places {
		e, err := clientfile.Apply(l, dryRun, func(f *clientfile.File) (clientfile.Edit, error) { return f.Uninstall() })
		if err != nil {
			failed = errors.Join(failed, target.NotEdited(l, e.Step, err))
			continue
		}
		if e.File == nil {
			continue
		}
		for _, entry := range e.File.Entries {
			if entry.State == clientfile.ByHand {
				term.Line(w, message.EntryByHand(l.Path, entry.Line))
			}
		}
		if n := len(e.Changed); n > 0 {
			done += n
			term.Text(w, e.Diff)
			if !dryRun {
				term.Line(w, fmt.Sprintf("Removed belay from %s in %s.", message.Count(n, target.Noun(l.Kind)), l.Path))
			}
		}
	}
	links, err := shim.RemoveAll(w, dryRun)
	if failed = errors.Join(failed, err); failed != nil {
		return failed
	}
	if done += links; done == 0 {
		term.Line(w, "Belay is not in any of your clients' files or in those of this directory.")
	}
	if err := term.Line(w, "Belay does not know the files of other projects. Run this there too."); err != nil {
		return err
	}
	if dir, err := state.DefaultDir(); err == nil {
		return term.Line(w, fmt.Sprintf("The log and other records are in %s. Remove that directory if you no longer need them.", dir))
	}
	return nil
}

// installedPlaces are all that belay edits, each file once.
func installedPlaces() (places []clientfile.Location, err error) {
	for _, client := range profile.Clients() {
		for _, kind := range []clientfile.Kind{clientfile.Hooks, clientfile.Servers} {
			own, err := client.Locations(kind, "")
			if err != nil {
				return nil, command.Fail(err)
			}
			for _, l := range own {
				if l.LeftAlone || slices.ContainsFunc(places, func(p clientfile.Location) bool { return p.Path == l.Path && p.Kind == kind }) {
					continue
				}
				places = append(places, l.Everywhere())
			}
		}
	}
	return places, nil
}
