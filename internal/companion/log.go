//go:build !norecord

package companion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/verdict"
)

// log is belay log: the runs, the attempts, or the story of one run.
func (q *question) log(ctx context.Context) error {
	switch {
	case len(q.rest) > 1:
		return &usageError{err: message.Error(fmt.Sprintf("belay log takes the id of one run, not %d", len(q.rest)))}
	case len(q.rest) == 1:
		q.filter.Invocation = q.rest[0]
	}
	attempts := q.on("attempts")
	if q.on("tree") {
		if attempts || q.on("follow") {
			return &usageError{err: message.Error("--tree cannot be used together with --attempts or --follow")}
		}
		return q.tree(ctx)
	}
	if q.filter.Invocation != "" {
		return q.story(ctx)
	}
	switch {
	case q.on("follow") && attempts:
		return follow(ctx, q, q.db.Attempts, q.attempts(), func(a record.Attempt) (string, time.Time) { return a.Invocation + a.Ended.String(), a.Ended })
	case q.on("follow"):
		return follow(ctx, q, q.db.Invocations, q.runs(), func(i record.Invocation) (string, time.Time) { return i.ID + i.Status, i.Ended })
	case attempts:
		list, err := q.db.Attempts(ctx, q.filter)
		return errors.Join(err, q.attempts().write(q, list))
	}
	list, err := q.db.Invocations(ctx, q.filter)
	return errors.Join(err, q.runs().write(q, list), q.writeOthers(ctx, list))
}

// writeOthers says how many failures there are, in the time of a list of runs, that are not of runs. Those have no labels.
func (q *question) writeOthers(ctx context.Context, list []record.Invocation) error {
	f := q.filter
	if q.json || f.Name != "" || f.Tags != nil || f.Project != "" || f.Batch != "" {
		return nil
	}
	if f.Since.IsZero() && f.Limit > 0 && len(list) == f.Limit {
		f.Since = list[0].Ended
	}
	n, err := q.db.OtherFailures(ctx, f)
	if n == 0 {
		return err
	}
	return errors.Join(err, term.Line(q.out, fmt.Sprintf("also on record: %s of hooks, MCP servers or Go programs; see: belay events", message.Count(n, "failure"))))
}

// runs lists a line a run.
func (q *question) runs() listing[record.Invocation] {
	return listing[record.Invocation]{"", runColumns, q.runRow, func(i record.Invocation) string { return i.Machine }}
}

func (q *question) runRow(_ int, i record.Invocation) []term.Piece {
	return term.Cells(q.clock(i.Ended), shortID(i.ID), oneLine(i.Profile, 20), oneLine(i.Command, 100), labelText(i.Name, i.Tags, i.Task), result(i.Status, i.Class),
		i.Attempts, span(i.WaitMS), span(i.ResponseMS), tokenText(i.Usage.InputTokens, i.Usage.OutputTokens), spentBy(i.Usage), oneLine(i.Error, 200))
}

// attempts lists a line an attempt, as the log has them.
func (q *question) attempts() listing[record.Attempt] {
	return listing[record.Attempt]{"", attemptColumns, func(_ int, a record.Attempt) []term.Piece {
		return term.Cells(q.clock(a.Ended), shortID(a.Invocation), a.Attempt, oneLine(a.Profile, 20), oneLine(a.Command, 100),
			result(a.Status, a.Class), a.ExitCode, span(a.ResponseMS), span(a.WaitMS-a.InnerMS), oneLine(a.Error, 200))
	}, func(a record.Attempt) string { return a.Machine }}
}

// result is the class of a run, and whether it is to be repeated or was given up.
func result(status, class string) term.Piece {
	class = className(class)
	switch status {
	case "retry":
		return term.Styled(term.Warning, class+", retried")
	case "exhausted":
		return term.Styled(term.Bad, class+", given up")
	}
	return outcome(class)
}

// className is a class as people read it.
func className(class string) string {
	if class == string(verdict.NotDone) {
		return message.Noun(verdict.NotDone)
	}
	return class
}

// outcome is a class, or the status of a session.
func outcome(text string) term.Piece {
	switch text {
	case "interrupted", "breaker_open":
		return term.Styled(term.Warning, text)
	case "ok", "done":
		return term.Styled(term.Good, text)
	case "running":
		return term.Styled(term.Plain, text)
	case "abandoned":
		return term.Styled(term.Faint, text)
	}
	return term.Styled(term.Bad, text)
}

func span(ms int64) string {
	if ms == 0 {
		return ""
	}
	return term.Span(time.Duration(ms) * time.Millisecond)
}

func tokenText(in, out int64) string {
	if in == 0 && out == 0 {
		return ""
	}
	return fmt.Sprintf("%s in, %s out", thousands(in), thousands(out))
}

// story shows everything that is on record of one run.
func (q *question) story(ctx context.Context) error {
	inv, err := q.oneRun(ctx)
	if err != nil {
		return err
	}
	attempts, err := q.db.Attempts(ctx, record.Filter{Invocation: inv.ID})
	if err != nil {
		return err
	}
	if q.json {
		return term.JSON(q.out, struct {
			record.Invocation
			List []record.Attempt `json:"attempt_list"`
		}{inv, attempts})
	}
	return term.Text(q.out, q.tell(inv, attempts))
}

// oneRun is the run that was asked for.
func (q *question) oneRun(ctx context.Context) (inv record.Invocation, err error) {
	found, err := q.db.Invocations(ctx, record.Filter{Invocation: q.filter.Invocation})
	switch {
	case err != nil:
		return inv, err
	case len(found) == 0:
		return inv, &usageError{err: seeFor(message.NoRun(q.filter.Invocation), "belay log")}
	case len(found) > 1:
		return inv, &usageError{err: seeFor(message.SeveralRuns(len(found), q.filter.Invocation), "belay log --json")}
	}
	return found[0], nil
}

func (q *question) tell(inv record.Invocation, attempts []record.Attempt) string {
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
	line("command", oneLine(inv.Command, 100)+" (profile "+inv.Profile+")")
	line("fallback", oneLine(inv.Fallback, 100))
	line("machine", oneLine(inv.Machine, 100))
	line("name", oneLine(inv.Name, 100))
	line("tags", oneLine(strings.Join(label.List(inv.Tags), ", "), 1000))
	line("project", tilde(inv.Project))
	line("batch", oneLine(tilde(inv.Batch), 1000))
	line("task", oneLine(message.TaskAndLine(inv.Task.Task, inv.Line), 1000))
	line("started", inv.Started.In(q.now.Location()).Format(time.DateTime+" MST"))
	line("result", fmt.Sprintf("%s, %s", result(inv.Status, inv.Class).Text, message.ExitCodes(inv.BelayCode, inv.ExitCode)))
	line("model", inv.Model)
	line("session", inv.Session)
	line("gate", inv.Gate)
	line("waited", span(inv.WaitMS))
	line("parent", inv.Parent)
	line("trace", inv.Trace)
	if inv.Requests > 0 {
		line("requests", thousands(inv.Requests)+innerText(inv.Inner))
	}
	line("tokens", usedText(inv.Usage))
	line("cost", costText(inv.Usage))
	if inv.RetryAt != nil {
		line("retry at", inv.RetryAt.In(q.now.Location()).Format(time.DateTime+" MST"))
	}
	for _, a := range attempts {
		term.Printf(&b, "\n")
		more("waited ", span(a.GateWaitMS), " before it could start")
		what := fmt.Sprintf("attempt %d", a.Attempt)
		if a.Attempt == 0 {
			what = "not started"
			if a.Check != nil {
				what = "nothing to do"
			}
		}
		term.Printf(&b, "%s  %s: %s", a.Ended.In(q.now.Location()).Format(time.TimeOnly), what, className(a.Class))
		if a.Attempt > 0 {
			term.Printf(&b, " after %s", cmp.Or(span(a.ResponseMS), "0s"))
			if a.FirstMS != nil {
				term.Printf(&b, " (first token after %s)", cmp.Or(span(*a.FirstMS), "0s"))
			}
			term.Printf(&b, ", %s", message.ExitCodes(nil, a.ExitCode))
		}
		if a.Signal != "" {
			term.Printf(&b, ", by %s", a.Signal)
		}
		b.WriteByte('\n')
		for text := range strings.Lines(a.Error) {
			term.Printf(&b, "           %s\n", oneLine(strings.TrimRight(text, "\r\n"), 2000))
		}
		more("asked for the model ", a.ModelAsked, ", and got "+a.Model)
		more("", checkText(a), "")
		more("rule: ", a.Rule, "")
		more("used up to ", sizeText(a.Memory), " of memory")
		more(count64(a.Requests, "request"), innerText(a.Inner), "")
		more("tools: ", toolText(a), "")
		cost := costText(a.Usage)
		if cost != "" {
			cost = ", cost " + cost
		}
		more("", usedText(a.Usage), cost)
		more("of that, ", span(a.InnerMS), " waiting for its own retries")
		if after := a.WaitMS - a.InnerMS; after > 0 {
			more("then waited ", span(after), "")
		} else {
			more("then was going to wait ", span(a.PlannedMS), "")
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
	text += " after " + cmp.Or(span(int64(a.Check.Time*1000)), "0s")
	if a.Check.Round > 0 {
		return fmt.Sprintf("round %d: %s", a.Check.Round, text)
	}
	return text
}

// seeFor is an error with the command that shows more.
func seeFor(text, command string) error { return message.Error(text + "; " + message.See(command)) }

// innerText says how many requests were retries that the command has made by itself.
func innerText(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (the command itself retried %s)", times(n))
}

// usedText are the tokens, and whether that is all.
func usedText(u verdict.Usage) string {
	text := tokenText(u.InputTokens, u.OutputTokens)
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
	text := dollars(u.CostUSD)
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

// spentBy is what is known of the cost, for a table: ~ stands before an estimate, ≥ before what is not all. Empty for none.
func spentBy(u verdict.Usage) string {
	switch {
	case u.CostUSD != nil && *u.CostUSD != 0:
	case u.CostUnknown():
		return "unknown"
	default:
		return ""
	}
	text := dollars(u.CostUSD)
	if u.Estimated {
		text = "~" + text
	}
	if u.Unknown {
		text = "≥ " + text
	}
	return text
}

// toolText are the tools of an attempt: how often each was used, and how long.
func toolText(a record.Attempt) string {
	var list []string
	for _, t := range a.Tools {
		text := fmt.Sprintf("%s ×%d", oneLine(t.Name, 80), t.Count)
		if took := span(int64(t.Time * 1000)); took != "" {
			text += " " + took
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}
