//go:build !norecord

package companion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/belay-run/belay/internal/companion/db"
	"github.com/belay-run/belay/internal/doctor"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/term"
)

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
	if aside, _ := filepath.Glob(filepath.Join(dir, db.Name+".damaged-*")); len(aside) > 0 {
		list = found(doctor.Note, "rm "+filepath.Join(dir, db.Name)+".damaged-*", "a damaged database was set aside: "+tilde(aside[0]))
	}
	health, err := db.Examine(dir)
	refused, ok := errors.AsType[*safefile.Error](err)
	switch {
	case ok:
		return found(doctor.Wrong, doctor.MoveAside(refused.Path), fmt.Sprintf("%s %s, so the database cannot be used", tilde(refused.Path), refused.Reason))
	case errors.Is(err, fs.ErrNotExist):
		return found(doctor.Fine, "", "no database yet; the first query creates it")
	case errors.Is(err, db.ErrNewer):
		return found(doctor.Wrong, "make install", err.Error())
	case err != nil:
		return found(doctor.Wrong, "belay stats", fmt.Sprintf("the database is damaged (%v); the next query sets it aside and rebuilds it", err))
	}
	return found(doctor.Fine, "", message.DatabaseFine(count64(health.Invocations, "run"), term.Size(health.Size), int(health.Torn), health.Older))
}
