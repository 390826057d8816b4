//go:build !norecord

package companion

import (
	"context"
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/when"
)

// prune is belay prune: it removes what is older than a time, or beyond a size.
func (q *question) prune(ctx context.Context) (err error) {
	age, size, dry := q.text("older-than"), q.text("max-size"), q.on("dry-run")
	var before time.Time
	switch {
	case (age == "") == (size == ""):
		return &usageError{err: message.Error("say what to delete, as in: belay prune --older-than 90d, or belay prune --max-size 500MB")}
	case age != "":
		if before, err = when.Parse(age, q.now); err != nil {
			return &usageError{err: message.Error(message.InFlag("older-than", err), err)}
		}
	default:
		bytes, err := config.ParseSize(size)
		if err != nil {
			return &usageError{err: message.Error(message.InFlag("max-size", err), err)}
		}
		if before, err = q.db.Before(ctx, bytes); err != nil {
			return err
		}
	}
	if before.After(q.now) {
		return &usageError{err: message.Error(before.Format(time.DateTime) + " is in the future")}
	}
	p, err := q.db.Prune(ctx, before, dry)
	if err != nil {
		return err
	}
	if age != "" {
		// The output of detached runs that have ended before that time, delivered or not.
		outputs, size := q.state.Spools().Prune(p.Before, dry)
		p.Outputs, p.Bytes = outputs, p.Bytes+size
	}
	if q.json {
		return term.JSON(q.out, p)
	}
	if before.IsZero() {
		return term.Line(q.out, "nothing to delete: the record is not larger than that, or has no runs left")
	}
	term.Line(q.out, message.Pruned(dry, count64(p.Invocations, "run"), before.In(q.now.Location()),
		count64(int64(p.Sessions), "session file"), count64(int64(len(p.Logs)), "old log")))
	if p.Rotated != "" && !dry {
		term.Line(q.out, fmt.Sprintf("the log was moved to %s, which a later prune deletes once everything in it is that old", p.Rotated))
	}
	if p.Outputs > 0 {
		term.Line(q.out, message.PrunedOutputs(dry, p.Outputs))
	}
	if p.Bytes > 0 {
		term.Line(q.out, term.Size(p.Bytes)+" freed")
	}
	return nil
}
