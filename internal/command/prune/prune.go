// Package prune is belay prune: it removes what is older than a time, or beyond a size.
package prune

import (
	"context"
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/command/table"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/when"
)

// Run is belay prune.
func Run(ctx context.Context, r *request.Request) (int, error) {
	return question.Answer(ctx, r, answer)
}

func answer(ctx context.Context, q *question.Question) (err error) {
	age, size, dry := q.Text("older-than"), q.Text("max-size"), q.On("dry-run")
	if q.On("trees") {
		if age != "" || size != "" {
			return &request.UsageError{Err: message.Error(message.NotTogether("--trees", "--older-than or --max-size"))}
		}
		return trees(q, dry)
	}
	var before time.Time
	switch {
	case (age == "") == (size == ""):
		return &request.UsageError{Err: message.Error("say what to delete, as in: belay prune --older-than 90d, or belay prune --max-size 500MB")}
	case age != "":
		if before, err = when.Parse(age, q.Now); err != nil {
			return &request.UsageError{Err: message.Error(message.InFlag("older-than", err), err)}
		}
	default:
		bytes, err := config.ParseSize(size)
		if err != nil {
			return &request.UsageError{Err: message.Error(message.InFlag("max-size", err), err)}
		}
		if before, err = q.DB.Before(ctx, bytes); err != nil {
			return err
		}
	}
	if before.After(q.Now) {
		return &request.UsageError{Err: message.Error(before.Format(time.DateTime) + " is in the future")}
	}
	p, err := q.DB.Prune(ctx, before, dry)
	if err != nil {
		return err
	}
	if age != "" {
		// The output of detached runs that have ended before that time, delivered or not.
		outputs, size := q.State.Spools().Prune(p.Before, dry)
		p.Outputs, p.Bytes = outputs, p.Bytes+size
	}
	if q.JSON {
		return term.JSON(q.Out, p)
	}
	if before.IsZero() {
		return term.Line(q.Out, "nothing to delete: the record is not larger than that, or has no runs left")
	}
	term.Line(q.Out, message.Pruned(dry, table.Count(p.Invocations, "run"), before.In(q.Now.Location()),
		table.Count(int64(p.Sessions), "session file"), table.Count(int64(len(p.Logs)), "old log")))
	if p.Rotated != "" && !dry {
		term.Line(q.Out, fmt.Sprintf("the log was moved to %s, which a later prune deletes once everything in it is that old", p.Rotated))
	}
	if p.Outputs > 0 {
		term.Line(q.Out, message.PrunedOutputs(dry, p.Outputs))
	}
	if p.Bytes > 0 {
		term.Line(q.Out, term.Size(p.Bytes)+" freed")
	}
	return nil
}
