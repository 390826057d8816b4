package log

import (
	"context"
	"fmt"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/alerts"
	"github.com/belay-run/belay/internal/command/audit"
	"github.com/belay-run/belay/internal/command/events"
	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/message"
)

// view shows what else is on record than runs.
func view(ctx context.Context, q *question.Question, kind string) error {
	for _, name := range []string{"attempts", "tree", "follow", "name", "tag", "project", "batch"} {
		if q.On(name) || q.Text(name) != "" && q.Text(name) != "false" {
			return &request.UsageError{Err: message.Error(message.NotTogether("--"+name, "--kind"))}
		}
	}
	switch kind {
	case "events":
		return events.List(ctx, q, "")
	case "hook", "mcp":
		return events.List(ctx, q, kind)
	case "audit":
		return audit.List(ctx, q, "")
	case "alerts":
		return alerts.List(ctx, q)
	}
	return &request.UsageError{Err: fmt.Errorf("--kind: unknown kind %q", kind)}
}
