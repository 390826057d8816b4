//go:build !norecord

package companion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"time"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/doctor"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/term"
)

// The commands that need the database are left out by the build tag norecord: make demo does without them, because SQLite takes longer to
// compile than all the rest.
func init() {
	maps.Copy(commands, map[string]func(context.Context, caller, *arguments) (int, error){
		belayd.Fold: foldCommand, belayd.CheckDatabase: checkDatabaseCommand,
		"log": asking((*question).log), "stats": asking((*question).stats), "events": asking((*question).events), "sessions": asking((*question).sessions),
		"alerts": asking((*question).alerts), "audit": asking((*question).audit), "prune": asking((*question).prune), "metrics": asking((*question).metrics),
		belayd.UI: uiCommand, "report": reportCommand, "top": topCommand, belayd.Telemetry: telemetryCommand,
	})
	maps.Copy(commands, fleetCommands)
}

// asking is a command that asks the record.
func asking(answer func(*question, context.Context) error) func(context.Context, caller, *arguments) (int, error) {
	return func(ctx context.Context, from caller, args *arguments) (int, error) {
		return answered(ctx, from, args, func(q *question) error { return answer(q, ctx) })
	}
}

// foldCommand brings the record up to date and delivers alerts. A failed run starts it in the background: its messages are
// not shown, and what it cannot do is done by the next command that reads the record.
func foldCommand(ctx context.Context, _ caller, args *arguments) (int, error) {
	dir, err := state.DefaultDir()
	if err == nil {
		_, err = state.Open(dir)
	}
	if err != nil {
		return 0, err
	}
	lazyGC()
	d, err := record.Open(dir)
	if err != nil {
		return 0, openTrouble(dir, err)
	}
	defer d.Close()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err = d.FoldAlone(ctx)
	if args.on(belayd.Telemetry) {
		err = errors.Join(err, sendFolded(ctx, d))
	}
	return 0, errors.Join(err, deliverAlerts(ctx, d))
}

// checkDatabaseCommand is the part of belay doctor that needs the database: its findings, a line of JSON each.
func checkDatabaseCommand(_ context.Context, from caller, _ *arguments) (int, error) {
	return 0, term.JSONLines(from.Out, checkDatabase())
}

// checkDatabase looks whether the database can be read. It changes nothing.
func checkDatabase() (list []doctor.Finding) {
	dir, err := state.DefaultDir()
	if err != nil {
		return nil
	}
	found := func(status, fix, text string) []doctor.Finding {
		return append(list, doctor.One("record", status, fix, text)...)
	}
	if aside, _ := filepath.Glob(filepath.Join(dir, record.Name+".damaged-*")); len(aside) > 0 {
		list = found(doctor.Note, "rm "+filepath.Join(dir, record.Name)+".damaged-*", "a damaged database was set aside: "+tilde(aside[0]))
	}
	health, err := record.Examine(dir)
	refused, ok := errors.AsType[*safefile.Error](err)
	switch {
	case ok:
		return found(doctor.Wrong, doctor.MoveAside(refused.Path), fmt.Sprintf("%s %s, so the database cannot be used", tilde(refused.Path), refused.Reason))
	case errors.Is(err, fs.ErrNotExist):
		return found(doctor.Fine, "", "no database yet; the first query creates it")
	case errors.Is(err, record.ErrNewer):
		return found(doctor.Wrong, "make install", err.Error())
	case err != nil:
		return found(doctor.Wrong, "belay stats", fmt.Sprintf("the database is damaged (%v); the next query sets it aside and rebuilds it", err))
	}
	return found(doctor.Fine, "", message.DatabaseFine(count64(health.Invocations, "run"), term.Size(health.Size), int(health.Torn), health.Older))
}
