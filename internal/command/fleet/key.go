package fleet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/fleet/jobs"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/term"
)

// ofSubmitters sees or changes who may submit, which needs the fleet's key. name is the submitter that the command names, if it is about one.
func ofSubmitters(ctx context.Context, r *request.Request, do func(s *jobs.Submitters, name string) error) (int, error) {
	name := strings.Join(r.Rest, " ")
	if name == "" && r.Command.Args.What != "" {
		return 0, &request.UsageError{Err: message.Error(fmt.Sprintf("which submitter? For example: belay %s ann", r.Command.Name))}
	}
	address, err := question.FleetAddress(r)
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
		return 0, &request.UsageError{Err: message.Error("the jobs of this fleet are not encrypted, so submitters need no keys")}
	case key.OfSubmitter():
		return 0, &request.UsageError{Err: message.Error(message.FleetKeyOnlySubmits(keyFile()))}
	}
	return 0, do(&jobs.Submitters{Store: fleet, Key: key, Path: filepath.Join(dir, "fleet", jobs.SubmittersFile)}, name)
}

// KeyAdd is belay fleet key add. The key counts once it is written: one that was lost on its way would only have to be withdrawn.
func KeyAdd(ctx context.Context, r *request.Request) (int, error) {
	path := r.Text("output")
	if path == "" && stdio.IsTerminal(r.Out) {
		return 0, &request.UsageError{Err: message.Error("the key would be shown on this terminal; write it to a file with -o FILE, or show it with -o -")}
	}
	return ofSubmitters(ctx, r, func(s *jobs.Submitters, name string) error {
		if path == "" || path == "-" {
			return s.Add(ctx, name, func(key *jobs.Key) error { return term.Text(r.Out, key.Text()) })
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
		return term.Line(r.Out, fmt.Sprintf("the key of %s is in %s; on the machine that submits, it belongs in .config/belay/fleet.key", name, path))
	})
}

// submitterTable is the table of belay fleet key list.
var submitterTable = []term.Column{{Heading: "NAME"}, {Heading: "CREATED", Kind: term.Time}}

// KeyList is belay fleet key list.
func KeyList(ctx context.Context, r *request.Request) (int, error) {
	return ofSubmitters(ctx, r, func(s *jobs.Submitters, _ string) error {
		submitters, err := s.List(ctx)
		if err != nil {
			return err
		}
		var rows [][]term.Piece
		for _, one := range submitters {
			rows = append(rows, term.Cells(one.Name, one.Created.Local().Format(time.DateTime)))
		}
		return list(r, submitters, "no submitter has a key of its own; make one with: belay fleet key add NAME -o FILE", submitterTable, rows)
	})
}

// KeyRemove is belay fleet key remove.
func KeyRemove(ctx context.Context, r *request.Request) (int, error) {
	return ofSubmitters(ctx, r, func(s *jobs.Submitters, name string) error {
		if err := s.Remove(ctx, name); err != nil {
			return err
		}
		return term.Line(r.Out, "withdrew the key of "+name)
	})
}
