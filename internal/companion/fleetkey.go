//go:build !norecord

package companion

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/fleet/jobs"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/term"
)

// ofSubmitters sees or changes who may submit, which needs the fleet's key. name is the submitter that the command names, if it is about one.
func ofSubmitters(ctx context.Context, args *arguments, do func(s *jobs.Submitters, name string) error) (int, error) {
	name := strings.Join(args.rest, " ")
	if name == "" && args.command.Args.What != "" {
		return 0, &usageError{err: message.Error(fmt.Sprintf("which submitter? For example: belay %s ann", args.command.Name))}
	}
	address, err := fleetAddress(args)
	if err != nil {
		return 0, err
	}
	dir, err := state.DefaultDir()
	if err != nil {
		return 0, err
	}
	fleet, key, err := openWithKey(ctx, address)
	if err != nil {
		return 0, err
	}
	defer fleet.Close()
	switch {
	case key == nil:
		return 0, &usageError{err: message.Error("the jobs of this fleet are not encrypted, so submitters need no keys")}
	case key.OfSubmitter():
		return 0, &usageError{err: message.Error(message.FleetKeyOnlySubmits(keyFile()))}
	}
	return 0, do(&jobs.Submitters{Store: fleet, Key: key, Path: filepath.Join(dir, "fleet", jobs.SubmittersFile)}, name)
}

// fleetKeyAddCommand is belay fleet key add. The key counts once it is written: one that was lost on its way would only have to be withdrawn.
func fleetKeyAddCommand(ctx context.Context, from caller, args *arguments) (int, error) {
	path := args.text("output")
	if path == "" && stdio.IsTerminal(from.Out) {
		return 0, &usageError{err: message.Error("the key would be shown on this terminal; write it to a file with -o FILE, or show it with -o -")}
	}
	return ofSubmitters(ctx, args, func(s *jobs.Submitters, name string) error {
		if path == "" || path == "-" {
			return s.Add(ctx, name, func(key *jobs.Key) error { return term.Text(from.Out, key.Text()) })
		}
		made := false
		err := s.Add(ctx, name, func(key *jobs.Key) error {
			err := key.Write(path)
			made = err == nil
			return err
		})
		if err != nil {
			if made {
				os.Remove(path)
			}
			return err
		}
		return term.Line(from.Out, fmt.Sprintf("the key of %s is in %s; on the machine that submits, it belongs in .config/belay/fleet.key", name, path))
	})
}

// submitterTable is the table of belay fleet key list.
var submitterTable = []term.Column{{Heading: "NAME"}, {Heading: "CREATED", Kind: term.Time}}

// fleetKeyListCommand is belay fleet key list.
func fleetKeyListCommand(ctx context.Context, from caller, args *arguments) (int, error) {
	return ofSubmitters(ctx, args, func(s *jobs.Submitters, _ string) error {
		list, err := s.List(ctx)
		if err != nil {
			return err
		}
		var rows [][]term.Piece
		for _, one := range list {
			rows = append(rows, term.Cells(one.Name, one.Created.Local().Format(time.DateTime)))
		}
		return fleetList(from, args, list, "no submitter has a key of its own; make one with: belay fleet key add NAME -o FILE", submitterTable, rows)
	})
}

// fleetKeyRemoveCommand is belay fleet key remove.
func fleetKeyRemoveCommand(ctx context.Context, from caller, args *arguments) (int, error) {
	return ofSubmitters(ctx, args, func(s *jobs.Submitters, name string) error {
		if err := s.Remove(ctx, name); err != nil {
			return err
		}
		return term.Line(from.Out, "withdrew the key of "+name)
	})
}
