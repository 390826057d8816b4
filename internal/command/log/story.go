package log

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/command/table"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/verdict"
)

// last names the newest run that the filters let through.
const last = "last"

// story shows everything that is on record of one run.
func story(ctx context.Context, q *question.Question) error {
	inv, err := oneRun(ctx, q)
	if err != nil {
		return err
	}
	attempts, err := q.DB.Runs.Attempts(ctx, record.Filter{Invocation: inv.ID})
	if err != nil {
		return err
	}
	switch {
	case q.On("explain"):
		return explain(q, inv, attempts)
	case q.JSON:
		return term.JSON(q.Out, struct {
			record.Invocation
			List []record.Attempt `json:"attempt_list"`
		}{inv, attempts})
	}
	return term.Text(q.Out, tell(q, inv, attempts))
}

// oneRun is the run that was asked for.
func oneRun(ctx context.Context, q *question.Question) (inv record.Invocation, err error) {
	f := record.Filter{Invocation: q.Filter.Invocation}
	if f.Invocation == last {
		f = q.Filter
		f.Invocation, f.Limit = "", 1
	}
	found, err := q.DB.Runs.Invocations(ctx, f)
	switch {
	case err != nil:
		return inv, err
	case len(found) == 0 && q.Filter.Invocation == last:
		return inv, &request.UsageError{Err: message.Error(message.NothingOnRecord(""))}
	case len(found) == 0:
		return inv, &request.UsageError{Err: seeFor(message.NoRun(q.Filter.Invocation), "belay log")}
	case len(found) > 1:
		return inv, &request.UsageError{Err: seeFor(message.SeveralRuns(len(found), q.Filter.Invocation), "belay log --json")}
	}
	return found[0], nil
}

// seeFor is an error with the command that shows more.
func seeFor(text, command string) error { return message.Error(text + "; " + message.See(command)) }

func tell(q *question.Question, inv record.Invocation, attempts []record.Attempt) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			term.Printf(&b, "%-10s %s\n", name, value)
		}
	}
	more := func(before, text, after string) {
		if text != "" {
			term.Printf(&b, "           %s%s%s\n", before, text, after)
		}
	}
	line("run", inv.ID)
	line("command", table.OneLine(inv.Command, 100)+" (profile "+inv.Profile+")")
	line("prompt", table.OneLine(inv.Prompt, 100))
	line("fallback", table.OneLine(inv.Fallback, 100))
	line("machine", table.OneLine(inv.Machine, 100))
	line("name", table.OneLine(inv.Name, 100))
	line("tags", table.OneLine(strings.Join(label.List(inv.Tags), ", "), 1000))
	line("project", term.Tilde(inv.Project))
	line("batch", table.OneLine(term.Tilde(inv.Batch), 1000))
	line("task", table.OneLine(message.TaskAndLine(inv.Task.Task, inv.Line), 1000))
	line("started", inv.Started.In(q.Now.Location()).Format(time.DateTime+" MST"))
	line("result", fmt.Sprintf("%s, %s", table.ResultOf(inv.Status, inv.Class, inv.ExitCode).Text, message.ExitCodes(inv.BelayCode, inv.ExitCode)))
	line("why", table.OneLine(inv.Why, 1000))
	line("model", inv.Model)
	line("session", inv.Session)
	line("gate", inv.Gate)
	line("waited", table.Span(inv.WaitMS))
	line("parent", inv.Parent)
	line("trace", inv.Trace)
	if inv.Requests > 0 {
		line("requests", table.Thousands(inv.Requests)+innerText(inv.Inner))
	}
	line("tokens", usedText(inv.Usage))
	line("cost", costText(inv.Usage))
	if inv.RetryAt != nil {
		line("retry at", inv.RetryAt.In(q.Now.Location()).Format(time.DateTime+" MST"))
	}
	for _, a := range attempts {
		term.Printf(&b, "\n")
		more("waited ", table.Span(a.GateWaitMS), " before it could start")
		what := fmt.Sprintf("attempt %d", a.Attempt)
		if a.Attempt == 0 {
			what = "not started"
			if a.Check != nil {
				what = "nothing to do"
			}
		}
		term.Printf(&b, "%s  %s: %s", a.Ended.In(q.Now.Location()).Format(time.TimeOnly), what, message.ClassName(a.Class, a.ExitCode))
		if a.Attempt > 0 {
			term.Printf(&b, " after %s", cmp.Or(table.Span(a.ResponseMS), "0s"))
			if a.FirstMS != nil {
				term.Printf(&b, " (first token after %s)", cmp.Or(table.Span(*a.FirstMS), "0s"))
			}
			term.Printf(&b, ", %s", message.ExitCodes(nil, a.ExitCode))
		}
		if a.Signal != "" {
			term.Printf(&b, ", by %s", a.Signal)
		}
		b.WriteByte('\n')
		for text := range strings.Lines(a.Error) {
			term.Printf(&b, "           %s\n", table.OneLine(strings.TrimRight(text, "\r\n"), 2000))
		}
		more("asked for the model ", a.ModelAsked, ", and got "+a.Model)
		more("", checkText(a), "")
		more("worktree: ", a.Worktree, "")
		more("rule: ", a.Rule, "")
		more("used up to ", table.Size(a.Memory), " of memory")
		more(table.Count(a.Requests, "request"), innerText(a.Inner), "")
		more("tools: ", toolText(a), "")
		cost := costText(a.Usage)
		if cost != "" {
			cost = ", cost " + cost
		}
		more("", usedText(a.Usage), cost)
		more("of that, ", table.Span(a.InnerMS), " waiting for its own retries")
		more("→ ", table.OneLine(a.Why, 1000), "")
		switch after := a.WaitMS - a.InnerMS; {
		case a.Why != "" && (a.Status != string(journal.Retry) || after+a.PlannedMS == 0):
		case after > 0:
			more("→ retried after ", table.Span(after), "")
		case a.PlannedMS > 0:
			more("→ to be retried after ", table.Span(a.PlannedMS), "")
		case a.Status == string(journal.Retry):
			more("→ ", "retried at once", "")
		}
	}
	return b.String()
}

// checkText says how the check of an attempt's work has ended, and in which round of feedback; empty if there was none.
func checkText(a record.Attempt) string {
	if a.Check == nil {
		return ""
	}
	text := fmt.Sprintf("the check failed with exit code %d", a.Check.ExitCode)
	switch {
	case a.Check.Passed:
		text = "the check passed"
	case a.Check.ExitCode < 0:
		text = "the check failed without an exit code"
	}
	text += " after " + cmp.Or(table.Span(int64(a.Check.Time*1000)), "0s")
	if a.Check.Round > 0 {
		return fmt.Sprintf("round %d: %s", a.Check.Round, text)
	}
	return text
}

// innerText says how many requests were retries that the command has made by itself.
func innerText(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (the command itself retried %s)", table.Times(n))
}

// usedText are the tokens, and whether that is all.
func usedText(u verdict.Usage) string {
	text := table.TokensOf(u.InputTokens, u.OutputTokens)
	switch {
	case u.Unknown && text == "":
		return "tokens unknown"
	case u.Unknown:
		return text + " or more"
	}
	return text
}

// costText is the cost where something was used.
func costText(u verdict.Usage) string {
	text := table.Dollars(u.CostUSD)
	switch {
	case u.CostUnknown() && text == "":
		return "unknown"
	case u.CostUSD == nil || *u.CostUSD == 0:
		return ""
	case u.CostUnknown():
		text = "at least " + text
	}
	if u.Estimated {
		text += " (estimated)"
	}
	return text
}

// toolText are the tools of an attempt: how often each was used, and how long.
func toolText(a record.Attempt) string {
	var list []string
	for _, t := range a.Tools {
		text := fmt.Sprintf("%s ×%d", table.OneLine(t.Name, 80), t.Count)
		if took := table.Span(int64(t.Time * 1000)); took != "" {
			text += " " + took
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}
