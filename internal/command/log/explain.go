package log

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/command/table"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/verdict"
)

// explain is belay explain RUN: the verdict on the last attempt of a run, as belay explain prints that of a saved outcome, and what Belay has made of it.
func explain(q *question.Question, inv record.Invocation, attempts []record.Attempt) error {
	var last record.Attempt
	if len(attempts) > 0 {
		last = attempts[len(attempts)-1]
	}
	retryable := inv.Status == "exhausted" || verdict.Class(inv.Class).Retryable()
	if q.JSON {
		return term.JSON(q.Out, struct {
			Invocation string `json:"invocation"`
			Class      string `json:"class"`
			Retryable  bool   `json:"retryable"`
			Rule       string `json:"rule,omitempty"`
			Evidence   string `json:"evidence,omitempty"`
			Why        string `json:"why_ended,omitempty"`

			RetryAt *time.Time `json:"retry_at,omitempty"`
		}{inv.ID, inv.Class, retryable, last.Rule, inv.Error, inv.Why, inv.RetryAt})
	}
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-10s %s\n", name, table.OneLine(value, 1000))
		}
	}
	line("run:", fmt.Sprintf("%s, %s, %s", printable.ShortID(inv.ID), inv.Command, message.Count(inv.Attempts, "attempt")))
	line("class:", inv.Class)
	line("retryable:", fmt.Sprint(retryable))
	if inv.RetryAt != nil {
		line("come back:", "at "+inv.RetryAt.In(q.Now.Location()).Format(time.DateTime+" MST"))
	}
	line("rule:", last.Rule)
	line("evidence:", cmp.Or(inv.Error, "–"))
	line("ended:", cmp.Or(inv.Why, message.ExitCodes(inv.BelayCode, inv.ExitCode)))
	line("more:", "belay log "+printable.ShortID(inv.ID))
	return term.Text(q.Out, b.String())
}
