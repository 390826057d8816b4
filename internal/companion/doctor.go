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
	found := func(status, fix, format string, args ...any) []doctor.Finding {
		return append(list, doctor.One("record", status, fix, format, args...)...)
	}
	if aside, _ := filepath.Glob(filepath.Join(dir, db.Name+".damaged-*")); len(aside) > 0 {
		list = found(doctor.Note, "rm "+filepath.Join(dir, db.Name)+".damaged-*", "a damaged database was set aside: %s", tilde(aside[0]))
	}
	health, err := db.Examine(dir)
	refused, ok := errors.AsType[*safefile.Error](err)
	switch {
	case ok:
		return found(doctor.Wrong, doctor.MoveAside(refused.Path), "%s %s; the database cannot be used", tilde(refused.Path), refused.Reason)
	case errors.Is(err, fs.ErrNotExist):
		return found(doctor.Fine, "", "no database yet; the first question makes it")
	case errors.Is(err, db.ErrNewer):
		return found(doctor.Wrong, "make install", "%v", err)
	case err != nil:
		return found(doctor.Wrong, "belay stats", "the database is not sound (%v); the next question sets it aside and makes it again", err)
	}
	text := fmt.Sprintf("%s in %s", count64(health.Invocations, "run"), term.Size(health.Size))
	if health.Torn > 0 {
		text += fmt.Sprintf("; %s of the log were torn by a kill", count64(health.Torn, "line"))
	}
	if health.Older {
		text += "; an older version made it, and the next question brings it up to date"
	}
	return found(doctor.Fine, "", "%s", text)
}
