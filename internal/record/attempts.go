package record

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/belay-run/belay/internal/journal"
)

// insertAttempts returns those that were new. Nearly always all are, and they go in many at a time.
func insertAttempts(ctx context.Context, conn *sql.Conn, lines []line) (fresh []line, err error) {
	if len(lines) == 0 {
		return nil, nil
	}
	if _, err := conn.ExecContext(ctx, "SAVEPOINT many"); err != nil {
		return nil, err
	}
	n, err := attemptRows.insert(ctx, conn, len(lines), func(i int) ([]any, *Figures) { return attemptRow(&lines[i]) })
	if err != nil {
		return nil, err
	}
	if n == int64(len(lines)) {
		_, err := conn.ExecContext(ctx, "RELEASE many")
		return lines, err
	}
	if _, err := conn.ExecContext(ctx, "ROLLBACK TO many"); err != nil {
		return nil, err
	}
	for i := range lines {
		n, err := attemptRows.insert(ctx, conn, 1, func(int) ([]any, *Figures) { return attemptRow(&lines[i]) })
		if err != nil {
			return nil, err
		}
		if n == 1 {
			fresh = append(fresh, lines[i])
		}
	}
	_, err = conn.ExecContext(ctx, "RELEASE many")
	return fresh, err
}

var attemptRows = rows{
	table: "attempts", columns: `invocation, attempt, timestamp, status, class, error, rule, exit_code, signal, wait_ms, cpu_ms, retry_at, model, left_running,
		orphans_killed, planned_wait_ms, session, belay_exit_code, first_token_ms, tools, tool_calls, tools_cut, profile, command, checked, model_asked, worktree, why`, figures: inAttempts,
}

func attemptRow(l *line) ([]any, *Figures) {
	f := l.figures()
	return []any{l.Invocation, l.Attempt, l.Timestamp.UnixMilli(), string(l.Status), classOf(&l.Entry), null(l.Error), null(l.Rule), l.ExitCode, null(l.Signal),
		ms(l.WaitTime) - ms(l.Planned()), ms(l.CPUTime), nullTime(l.RetryAt), null(l.Model), l.Left,
		l.Killed, ms(l.Planned()), null(l.Session), l.BelayCode, null(ms(l.FirstToken)), nullList(l.Tools), nullList(l.ToolCalls), l.ToolsCut,
		ifFallback(l, l.Profile), ifFallback(l, l.Command), nullCheck(l.Check), null(l.ModelAsked), null(l.Worktree), null(l.Why)}, &f
}

// ifFallback is a text that differs from that of the run in attempts of a fallback, and is null in others.
func ifFallback(l *line, text string) any {
	if l.Fallback == "" {
		return nil
	}
	return text
}

// grouped adds lines up by a key, in the order in which the keys come.
func grouped[K comparable, S any](lines []line, key func(*line) K, add func(*S, *line)) (order []*S) {
	sums := map[K]*S{}
	for i := range lines {
		k := key(&lines[i])
		if sums[k] == nil {
			sums[k] = new(S)
			order = append(order, sums[k])
		}
		add(sums[k], &lines[i])
	}
	return order
}

// upsertInvocations adds the lines up, an invocation a row.
func upsertInvocations(ctx context.Context, conn *sql.Conn, lines []line) error {
	order := grouped(lines, func(l *line) string { return l.Invocation }, (*invocation).add)
	if _, err := invocationRows.insert(ctx, conn, len(order), func(i int) ([]any, *Figures) { return order[i].row() }); err != nil {
		return err
	}
	for _, inv := range order {
		if err := inv.time(ctx, conn); err != nil {
			return err
		}
	}
	return nil
}

// time says in its last line how long a run has taken, if that has ended it. Lines that were folded earlier may know when it began.
func (inv *invocation) time(ctx context.Context, conn *sql.Conn) error {
	if !final(inv.last) {
		return nil
	}
	started := inv.started
	if inv.first.Attempt != 1 {
		if err := conn.QueryRowContext(ctx, "SELECT started FROM invocations WHERE id = ?", inv.last.Invocation).Scan(&started); err != nil {
			return err
		}
	}
	inv.end.took = inv.last.Timestamp.UnixMilli() - started
	return nil
}

var invocationRows = rows{
	table: "invocations", key: "id", figures: inRuns,
	columns: `id, started, timestamp, profile, command, model, session, status, class, exit_code, retry_at, gate, prompt_hash,
		belay_exit_code, parent, traceparent, name, tags, project, fallback, machine, batch, task, line, prompt`,
	update: slices.Concat([]string{leastStarted}, latest("timestamp", "status", "class", "exit_code", "retry_at", "belay_exit_code"),
		keep("model", "session", "gate", "prompt_hash", "parent", "traceparent", "name", "tags", "project", "fallback", "machine", "batch", "task", "line", "prompt")),
}

const leastStarted = "started = min(started, excluded.started)"

// latest takes columns as the last line has them.
func latest(columns ...string) (set []string) {
	for _, c := range columns {
		set = append(set, c+" = excluded."+c)
	}
	return set
}

// keep keeps what earlier lines have said, of which the last one may say nothing.
func keep(columns ...string) (set []string) {
	for _, c := range columns {
		set = append(set, fmt.Sprintf("%s = coalesce(excluded.%[1]s, %[1]s)", c))
	}
	return set
}

// invocation is the sum of its lines.
type invocation struct {
	first, last *journal.Entry
	end         *line // the last one
	started     int64
	sum         Figures
	model       string
	session     string
}

func (inv *invocation) add(l *line) {
	e := &l.Entry
	begun := l.begun()
	if inv.last == nil || begun < inv.started {
		inv.started = begun
	}
	if inv.last, inv.end = e, l; inv.first == nil {
		inv.first = e
	}
	if e.Model != "" {
		inv.model = e.Model
	}
	if e.Session != "" {
		inv.session = e.Session
	}
	inv.sum.Add(l.figures())
}

func (inv *invocation) row() ([]any, *Figures) {
	e := inv.last
	return []any{e.Invocation, inv.started, e.Timestamp.UnixMilli(), inv.first.Profile, inv.first.Command, null(inv.model), null(inv.session), string(e.Status),
		classOf(e), e.ExitCode, nullTime(e.RetryAt), null(e.Gate), null(e.PromptHash),
		e.BelayCode, null(e.Parent), null(e.Traceparent), null(e.Name), nullTags(e.Tags), null(e.Project), null(e.Fallback), null(inv.end.machine),
		null(e.Batch), null(e.Task), null(int64(e.Line)), null(e.Prompt)}, &inv.sum
}
