package shim

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/shim"
	"github.com/belay-run/belay/internal/term"
)

func newShimRemove() *cobra.Command {
	var t shimTarget
	cmd := &cobra.Command{
		Use:   "remove [flags] [name…]",
		Short: "Remove the links to belay",
		Example: `Remove all links:
  belay shim remove
Remove that of codex:
  belay shim remove codex`,
		Long: `Removes the links of the named CLIs, or all of them, and the directory if nothing is left in it. What is not a link to belay stays. With the link of claude the processWrapper goes that belay shim install has set.`,
		RunE: func(cmd *cobra.Command, names []string) error {
			dir, err := t.directory()
			if err != nil {
				return err
			}
			if err := checkNames(names); err != nil {
				return err
			}
			removed, err := remove(dir, names)
			term.Line(cmd.OutOrStdout(), message.ShimsRemoved(removed, dir))
			_, failed := unlaunch(cmd.OutOrStdout(), names, false)
			return errors.Join(err, failed)
		},
	}
	t.flags(cmd)
	return cmd
}

// remove removes the links of those CLIs, or all if none is named. Something else is in the way only of one that is named.
func remove(dir string, named []string) (removed []string, failed error) {
	names := named
	if len(names) == 0 {
		names = allNames()
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

// unlaunch takes belay away from what these CLIs, or all if none is named, start in the background, and returns how many that were.
func unlaunch(w io.Writer, named []string, dryRun bool) (done int, failed error) {
	for _, client := range profile.Clients() {
		if client.Launcher == "" || len(named) > 0 && !slices.Contains(named, client.Name) || !dryRun && len(shim.Dirs([]string{client.Name})) > 0 {
			continue // or there are other links to it
		}
		path, changed, err := client.SetLauncher("", dryRun)
		switch {
		case err != nil:
			failed = errors.Join(failed, command.Fail(fmt.Errorf("%s: %w", path, err)))
		case changed:
			done++
			removed := "Removed"
			if dryRun {
				removed = "Would remove"
			}
			term.Line(w, fmt.Sprintf("%s %s from %s.", removed, client.Launcher, term.Tilde(path)))
		}
	}
	return done, failed
}

// RemoveAll removes the links of belay shim, wherever there are some on the PATH, and returns how many there were.
func RemoveAll(w io.Writer, dryRun bool) (done int, failed error) {
	for _, dir := range shim.Dirs(allNames()) {
		var names []string
		if !dryRun {
			removed, err := remove(dir, nil)
			failed = errors.Join(failed, err)
			if names = removed; len(names) > 0 {
				term.Line(w, message.ShimsRemoved(names, dir))
			}
		} else {
			for _, name := range allNames() {
				if shim.Look(dir, name).Own() {
					names = append(names, name)
				}
			}
			term.Line(w, fmt.Sprintf("Would remove the links %s from %s.", message.And(names), dir))
		}
		done += len(names)
	}
	launchers, err := unlaunch(w, nil, dryRun)
	return done + launchers, errors.Join(failed, err)
}
