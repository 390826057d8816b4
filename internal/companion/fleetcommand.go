//go:build !norecord

package companion

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/fleet/member"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/version"
)

// fleetCommands are those below belay fleet.
var fleetCommands = map[string]func(context.Context, caller, *arguments) (int, error){
	belayd.Courier: courierCommand,
	"fleet init":   fleetInitCommand, "fleet drain": changing((*store.Store).Drain, message.FleetDraining), "fleet remove": changing((*store.Store).Remove, message.FleetRemoved), "fleet join": fleetJoinCommand, "fleet status": fleetStatusCommand,
	belayd.FleetKeyAdd: fleetKeyAddCommand, belayd.FleetKeyList: fleetKeyListCommand, belayd.FleetKeyRemove: fleetKeyRemoveCommand,
	belayd.FleetPs: fleetPsCommand, belayd.FleetGates: fleetGatesCommand, belayd.FleetBudget: fleetBudgetCommand,
}

// fleetAddress is the PostgreSQL that a command's flag or the environment names.
func fleetAddress(args *arguments) (*store.Address, error) {
	address, err := store.ParseAddress(args.text("dsn"), os.Getenv)
	if err != nil {
		return nil, &usageError{err: err}
	}
	if address.Ignored != "" && args.note != nil {
		args.note(address.Ignored)
	}
	return address, nil
}

// openFleet opens the fleet that a command's flag or the environment names.
func openFleet(ctx context.Context, args *arguments) (*store.Store, error) {
	address, err := fleetAddress(args)
	if err != nil {
		return nil, err
	}
	return store.Open(ctx, address)
}

// inFleet does something with the fleet that a command's flag or the environment names.
func inFleet(ctx context.Context, args *arguments, do func(*store.Store) error) (int, error) {
	s, err := openFleet(ctx, args)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	return 0, do(s)
}

// minKeep is how long lines of logs are kept at least: what is asked about the fleet is about some time. The same goes for results.
const minKeep = time.Hour

// keepFlag is how long something is kept; 0 if the flag was not given.
func keepFlag(args *arguments, name string) (keep time.Duration, err error) {
	text := args.text(name)
	if text == "" {
		return 0, nil
	}
	if keep, err = config.ParseDuration(text); err == nil && keep < minKeep {
		err = message.Error(fmt.Sprintf("%q is less than 1h", text))
	}
	if err != nil {
		return 0, &usageError{err: message.Error(message.InFlag(name, err), err)}
	}
	return keep, nil
}

// fleetInitCommand is belay fleet init.
func fleetInitCommand(ctx context.Context, from caller, args *arguments) (int, error) {
	address, err := fleetAddress(args)
	if err != nil {
		return 0, err
	}
	keep, err := keepFlag(args, "keep")
	if err != nil {
		return 0, err
	}
	keepResults, err := keepFlag(args, "keep-results")
	if err != nil {
		return 0, err
	}
	s, err := store.Connect(ctx, address)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	before, after, err := s.Migrate(ctx)
	if err == nil && keep > 0 {
		err = s.SetKeep(ctx, keep)
	}
	if err == nil && keepResults > 0 {
		err = s.SetKeepResults(ctx, keepResults)
	}
	if err != nil {
		return 0, err
	}
	if err := settleKey(ctx, from, s, args.on("plain")); err != nil {
		return 0, err
	}
	return 0, term.Line(from.Out, message.FleetReady(address.Text, before, after))
}

// fleetJoinCommand is belay fleet join.
func fleetJoinCommand(ctx context.Context, from caller, args *arguments) (int, error) {
	address, err := fleetAddress(args)
	if err != nil {
		return 0, err
	}
	name := args.text("name")
	if name == "" {
		if name, err = os.Hostname(); err != nil {
			return 0, err
		}
	}
	if strings.ContainsFunc(name, unicode.IsControl) || len(name) > 200 {
		return 0, &usageError{err: message.Error("--name: too long, or has control characters")}
	}
	dir, err := state.DefaultDir()
	if err != nil {
		return 0, err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	m := &member.Member{Name: name, Version: version.String(), State: &state.State{Dir: dir}, Address: address, Say: from.say}
	if labels := args.text("label"); labels != "" {
		m.Labels = strings.Split(labels, ",")
	}
	return 0, from.joinWorking(ctx, m, args.text("workers"), args.text("allow"))
}

// changing is a command that does something to the machine that is named, and says so.
func changing(change func(*store.Store, context.Context, string) error, done func(string) string) func(context.Context, caller, *arguments) (int, error) {
	return func(ctx context.Context, from caller, args *arguments) (int, error) {
		if len(args.rest) != 1 || args.rest[0] == "" {
			return 0, &usageError{err: message.Error(fmt.Sprintf("which machine? For example: belay %s build-3", args.command.Name))}
		}
		return inFleet(ctx, args, func(s *store.Store) error {
			if err := change(s, ctx, args.rest[0]); err != nil {
				return err
			}
			return term.Line(from.Out, done(args.rest[0]))
		})
	}
}

// machineJSON is a machine for programs. Fields are only ever added.
type machineJSON struct {
	Name       string    `json:"name"`
	State      string    `json:"state"`
	Joined     time.Time `json:"joined"`
	SeenAgo    float64   `json:"seen_seconds_ago"`
	ClockAhead float64   `json:"clock_ahead_seconds"`
	Version    string    `json:"version"`
	Labels     []string  `json:"labels"`
	Generation int64     `json:"generation"`
}

// machineState is the word for how a machine is.
func machineState(m *store.Machine) string {
	switch {
	case m.Left:
		return "left"
	case m.Away():
		return "away"
	case m.Draining:
		return "draining"
	}
	return "joined"
}

// fleetStatusCommand is belay fleet status.
func fleetStatusCommand(ctx context.Context, from caller, args *arguments) (int, error) {
	return inFleet(ctx, args, func(s *store.Store) error {
		machines, err := s.Machines(ctx)
		if err != nil {
			return err
		}
		list := []machineJSON{}
		var rows [][]term.Piece
		for _, m := range machines {
			ahead := "–"
			if m.Ahead.Abs() >= time.Second {
				ahead = printable.Span(m.Ahead.Abs())
			}
			if m.Ahead <= -time.Second {
				ahead = "-" + ahead
			}
			list = append(list, machineJSON{m.Name, machineState(&m), m.Joined.UTC(), m.Silent.Seconds(), m.Ahead.Seconds(), m.Version, m.Labels, m.Generation})
			rows = append(rows, term.Cells(m.Name, machineState(&m), printable.Span(m.Silent), ahead, m.Version, strings.Join(m.Labels, ",")))
		}
		none := fmt.Sprintf("no machine has joined the fleet at %s; on each machine, run: belay fleet join", s.Address.Text)
		if err := fleetList(from, args, list, none, machineTable, rows); err != nil || args.on("json") {
			return err
		}
		_, limits, err := fleetGates(ctx, s, nil)
		overview.SayLimits(from.Out, limits)
		return err
	})
}

// fleetList writes what a command about the fleet has found: as JSON, or as a table with a row for each.
func fleetList[T any](from caller, args *arguments, list []T, none string, columns []term.Column, rows [][]term.Piece) error {
	switch {
	case args.on("json"):
		return term.JSONLines(from.Out, list)
	case len(list) == 0:
		return term.Line(from.Out, none)
	}
	return term.Table(from.Out, columns, rows)
}
