package companion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/companion/db"
	"github.com/belay-run/belay/internal/term"
)

// logCommand is belay log: the runs, the attempts, or the story of one run.
func logCommand(_ caller, args []string) (int, error) {
	q := newQuestion("log")
	q.narrows()
	q.flags.StringVar(&q.filter.Session, "session", "", "only this session")
	q.flags.StringVar(&q.filter.Invocation, "invocation", "", "the story of this run")
	q.most(20)
	follow := q.flags.Bool("follow", false, "go on")
	attempts := q.flags.Bool("attempts", false, "a line an attempt")
	rest, err := q.ask(args)
	defer q.close()
	switch {
	case err != nil:
		return 0, err
	case len(rest) > 1:
		return 0, &usageError{err: fmt.Errorf("belay log takes the id of one run, not %d", len(rest))}
	case len(rest) == 1:
		q.filter.Invocation = rest[0]
	}
	if q.filter.Invocation != "" {
		return 0, q.story()
	}
	if *follow {
		return 0, q.follow(*attempts)
	}
	if *attempts {
		list, err := q.db.Attempts(context.Background(), q.filter)
		return 0, errors.Join(err, q.writeAttempts(list, true))
	}
	list, err := q.db.Invocations(context.Background(), q.filter)
	return 0, errors.Join(err, q.writeRuns(list, true))
}

const runHeadings = "TIME\tRUN\tPROFILE\tCOMMAND\tRESULT\tATTEMPTS\tWAITED\tTOOK\tTOKENS\tCOST\tERROR"

// writeRuns shows a line a run.
func (q *question) writeRuns(list []db.Invocation, first bool) error {
	if q.json {
		return jsonLines(q.out, list)
	}
	if len(list) == 0 {
		if !first {
			return nil
		}
		_, err := fmt.Fprintln(q.out, "nothing is on record")
		return err
	}
	var rows [][]string
	for _, i := range list {
		rows = append(rows, []string{q.clock(i.Ended), shortID(i.ID), oneLine(i.Profile, 20), oneLine(i.Command, 24), result(i.Status, i.Class),
			fmt.Sprint(i.Attempts), span(i.WaitMS), span(i.ResponseMS), tokenText(i.Usage.InputTokens, i.Usage.OutputTokens),
			dollars(i.Usage.CostUSD), oneLine(i.Error, 80)})
	}
	return q.listed(runHeadings, rows)
}

const attemptHeadings = "TIME\tRUN\tATTEMPT\tPROFILE\tCOMMAND\tRESULT\tEXIT\tTOOK\tTHEN WAITED\tERROR"

// writeAttempts shows a line an attempt, as the log has them.
func (q *question) writeAttempts(list []db.Attempt, first bool) error {
	if q.json {
		return jsonLines(q.out, list)
	}
	if len(list) == 0 {
		if !first {
			return nil
		}
		_, err := fmt.Fprintln(q.out, "nothing is on record")
		return err
	}
	var rows [][]string
	for _, a := range list {
		rows = append(rows, []string{q.clock(a.Ended), shortID(a.Invocation), fmt.Sprint(a.Attempt), oneLine(a.Profile, 20), oneLine(a.Command, 24),
			result(a.Status, a.Class), fmt.Sprint(a.ExitCode), span(a.ResponseMS), span(a.WaitMS - a.InnerMS), oneLine(a.Error, 80)})
	}
	return q.listed(attemptHeadings, rows)
}

// listed writes rows under headings; what is followed goes on below them.
func (q *question) listed(headings string, rows [][]string) error {
	if q.following != nil {
		return q.following.Write(q.out, strings.Split(headings, "\t"), rows)
	}
	return table(q.out, headings, rows)
}

// result is how a run stands: its class, and what became of it.
func result(status, class string) string {
	switch status {
	case "retry":
		return class + ", to be repeated"
	case "exhausted":
		return class + ", given up"
	}
	return class
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

// story tells all of one run.
func (q *question) story() error {
	filter := db.Filter{Invocation: q.filter.Invocation}
	found, err := q.db.Invocations(context.Background(), filter)
	switch {
	case err != nil:
		return err
	case len(found) == 0:
		return &usageError{err: fmt.Errorf("no run has the id %q; see: belay log", q.filter.Invocation)}
	case len(found) > 1:
		return &usageError{err: fmt.Errorf("%d runs have an id like %q; see: belay log --json", len(found), q.filter.Invocation)}
	}
	inv := found[0]
	filter.Invocation = inv.ID
	attempts, err := q.db.Attempts(context.Background(), filter)
	if err != nil {
		return err
	}
	if q.json {
		return json.NewEncoder(q.out).Encode(struct {
			db.Invocation
			List []db.Attempt `json:"attempt_list"`
		}{inv, attempts})
	}
	_, err = fmt.Fprint(q.out, q.tell(inv, attempts))
	return err
}

func (q *question) tell(inv db.Invocation, attempts []db.Attempt) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-10s %s\n", name, value)
		}
	}
	line("run", inv.ID)
	line("command", oneLine(inv.Command, 100)+" (profile "+inv.Profile+")")
	line("started", inv.Started.In(q.now.Location()).Format(time.DateTime+" MST"))
	line("result", fmt.Sprintf("%s, exit code %d", result(inv.Status, inv.Class), inv.ExitCode))
	line("model", inv.Model)
	line("session", inv.Session)
	line("gate", inv.Gate)
	line("waited", span(inv.WaitMS))
	if inv.Requests > 0 {
		line("requests", thousands(inv.Requests))
	}
	line("tokens", tokenText(inv.Usage.InputTokens, inv.Usage.OutputTokens))
	line("cost", dollars(inv.Usage.CostUSD))
	if inv.RetryAt != nil {
		line("retry at", inv.RetryAt.In(q.now.Location()).Format(time.DateTime+" MST"))
	}
	for _, a := range attempts {
		fmt.Fprintf(&b, "\n")
		if a.GateWaitMS > 0 {
			fmt.Fprintf(&b, "           waited %s to be let in\n", span(a.GateWaitMS))
		}
		what := fmt.Sprintf("attempt %d", a.Attempt)
		if a.Attempt == 0 {
			what = "not started"
		}
		fmt.Fprintf(&b, "%s  %s: %s", a.Ended.In(q.now.Location()).Format(time.TimeOnly), what, a.Class)
		if a.Attempt > 0 {
			fmt.Fprintf(&b, " after %s, exit code %d", orZero(span(a.ResponseMS)), a.ExitCode)
		}
		if a.Signal != "" {
			fmt.Fprintf(&b, ", by %s", a.Signal)
		}
		b.WriteByte('\n')
		if a.Error != "" {
			for text := range strings.Lines(a.Error) {
				fmt.Fprintf(&b, "           %s\n", oneLine(strings.TrimRight(text, "\r\n"), 2000))
			}
		}
		if a.Rule != "" {
			fmt.Fprintf(&b, "           rule: %s\n", a.Rule)
		}
		if t := tokenText(a.Usage.InputTokens, a.Usage.OutputTokens); t != "" {
			fmt.Fprintf(&b, "           %s %s\n", t, dollars(a.Usage.CostUSD))
		}
		if a.InnerMS > 0 {
			fmt.Fprintf(&b, "           of that %s waiting before it tried again by itself\n", span(a.InnerMS))
		}
		if after := a.WaitMS - a.InnerMS; after > 0 {
			fmt.Fprintf(&b, "           then waited %s\n", span(after))
		} else if a.PlannedMS > 0 {
			fmt.Fprintf(&b, "           then was to wait %s\n", span(a.PlannedMS))
		}
	}
	return b.String()
}

func orZero(text string) string {
	if text == "" {
		return "0s"
	}
	return text
}
