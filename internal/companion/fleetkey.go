//go:build !norecord

package companion

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/companion/fleet/jobs"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/term"
)

// openSubmitters opens the fleet to see or change who may submit, which needs the fleet's key. name is the submitter that the command names, if it is about one.
func openSubmitters(ctx context.Context, args *arguments) (s *jobs.Submitters, name string, err error) {
	if name = strings.Join(args.rest, " "); name == "" && args.command.Args.What != "" {
		return nil, "", &usageError{err: message.Error(fmt.Sprintf("which submitter? For example: belay %s ann", args.command.Name))}
	}
	address, err := fleetAddress(args)
	if err != nil {
		return nil, "", err
	}
	dir, err := state.DefaultDir()
	if err != nil {
		return nil, "", err
	}
	fleet, key, err := openWithKey(ctx, address)
	switch {
	case err != nil:
		return nil, "", err
	case key == nil:
		err = &usageError{err: message.Error("the jobs of this fleet are not encrypted, so submitters need no keys")}
	case key.OfSubmitter():
		err = &usageError{err: message.Error(message.FleetKeyOnlySubmits(keyFile()))}
	}
	if err != nil {
		fleet.Close()
	}
	return &jobs.Submitters{Store: fleet, Key: key, Path: filepath.Join(dir, "fleet", jobs.SubmittersFile)}, name, err
}

// fleetKeyAddCommand is belay fleet key add. The key counts once it is written: one that was lost on its way would only have to be withdrawn.
func fleetKeyAddCommand(ctx context.Context, from caller, args *arguments) (int, error) {
	path := args.text("output")
	if path == "" && stdio.IsTerminal(from.Out) {
		return 0, &usageError{err: message.Error("the key would be shown on this terminal; write it to a file with -o FILE, or show it with -o -")}
	}
	s, name, err := openSubmitters(ctx, args)
	if err != nil {
		return 0, err
	}
	defer s.Store.Close()
	if path == "" || path == "-" {
		return 0, s.Add(ctx, name, func(key *jobs.Key) error { return term.Text(from.Out, key.Text()) })
	}
	made := false
	err = s.Add(ctx, name, func(key *jobs.Key) error {
		err := key.Write(path)
		made = err == nil
		return err
	})
	if err != nil {
		if made {
			os.Remove(path)
		}
		return 0, err
	}
	return 0, term.Line(from.Out, fmt.Sprintf("the key of %s is in %s; on the machine that submits, it belongs in .config/belay/fleet.key", name, path))
}

// submitterTable is the table of belay fleet key list.
var submitterTable = []term.Column{{Heading: "NAME"}, {Heading: "CREATED", Kind: term.Time}}

// fleetKeyListCommand is belay fleet key list.
func fleetKeyListCommand(ctx context.Context, from caller, args *arguments) (int, error) {
	s, _, err := openSubmitters(ctx, args)
	if err != nil {
		return 0, err
	}
	defer s.Store.Close()
	list, err := s.List(ctx)
	switch {
	case err != nil:
		return 0, err
	case args.on("json"):
		return 0, term.JSONLines(from.Out, list)
	case len(list) == 0:
		return 0, term.Line(from.Out, "no submitter has a key of its own; make one with: belay fleet key add NAME -o FILE")
	}
	var rows [][]term.Piece
	for _, one := range list {
		rows = append(rows, term.Cells(one.Name, one.Created.Local().Format(time.DateTime)))
	}
	return 0, term.Table(from.Out, submitterTable, rows)
}

// fleetKeyRemoveCommand is belay fleet key remove.
func fleetKeyRemoveCommand(ctx context.Context, from caller, args *arguments) (int, error) {
	s, name, err := openSubmitters(ctx, args)
	if err != nil {
		return 0, err
	}
	defer s.Store.Close()
	if err := s.Remove(ctx, name); err != nil {
		return 0, err
	}
	return 0, term.Line(from.Out, "withdrew the key of "+name)
}
