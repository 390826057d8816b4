// Package checkdatabase is what belay doctor leaves to belayd: whether the database can be read.
package checkdatabase

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/table"
	"github.com/belay-run/belay/internal/doctor"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/record/database"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/term"
)

// Run is the part of belay doctor that needs the database: its findings, a line of JSON each.
func Run(_ context.Context, r *request.Request) (int, error) {
	return 0, term.JSONLines(r.Out, check())
}

// check looks whether the database can be read. It changes nothing.
func check() (list []doctor.Finding) {
	dir, err := state.DefaultDir()
	if err != nil {
		return nil
	}
	found := func(status, fix, text string) []doctor.Finding {
		return append(list, doctor.One("record", status, fix, text)...)
	}
	if aside, _ := filepath.Glob(filepath.Join(dir, record.Name+".damaged-*")); len(aside) > 0 {
		list = found(doctor.Note, "rm "+filepath.Join(dir, record.Name)+".damaged-*", "a damaged database was set aside: "+term.Tilde(aside[0]))
	}
	health, err := record.Examine(dir)
	refused, ok := errors.AsType[*safefile.Error](err)
	switch {
	case ok:
		return found(doctor.Wrong, doctor.MoveAside(refused.Path), fmt.Sprintf("%s %s, so the database cannot be used", term.Tilde(refused.Path), refused.Reason))
	case errors.Is(err, fs.ErrNotExist):
		return found(doctor.Fine, "", "no database yet; the first query creates it")
	case errors.Is(err, database.ErrNewer):
		return found(doctor.Wrong, "https://github.com/belay-run/belay/blob/main/docs/install.md", err.Error())
	case err != nil:
		return found(doctor.Wrong, "belay stats", fmt.Sprintf("the database is damaged (%v); the next query sets it aside and rebuilds it", err))
	}
	return found(doctor.Fine, "", message.DatabaseFine(table.Count(health.Invocations, "run"), term.Size(health.Size), int(health.Torn), health.Older))
}
