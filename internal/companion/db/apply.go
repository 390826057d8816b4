package db

import (
	"context"
	"database/sql"
	"slices"

	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/journal"
)

// apply makes rows of lines. Lines that are there already, because a log has been changed by hand or copied, are passed over.
func (d *DB) apply(ctx context.Context, conn *sql.Conn, lines []line) error {
	attempts := make([]line, 0, len(lines))
	var others []line
	for i, l := range lines {
		l.place = i
		if l.Kind == "" {
			attempts = append(attempts, l)
		} else {
			others = append(others, l)
		}
	}
	fresh, err := insertAttempts(ctx, conn, attempts)
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context, *sql.Conn, []line) error{beginMeters, settleWaits, upsertInvocations, upsertRollup, upsertLabelRollup, upsertFirstTokens, insertFailures} {
		if err := step(ctx, conn, fresh); err != nil {
			return err
		}
	}
	faults, handled, err := insertOthers(ctx, conn, others)
	if err != nil {
		return err
	}
	if err := d.upsertSessions(ctx, conn, inOrder(fresh, handled)); err != nil {
		return err
	}
	if err := abandonSessions(ctx, conn, fresh); err != nil {
		return err
	}
	if err := insertOutbox(ctx, conn, fresh); err != nil {
		return err
	}
	if err := upsertRollup(ctx, conn, faults); err != nil {
		return err
	}
	return upsertLabelRollup(ctx, conn, faults)
}

// insertAttempts returns those that were new. Nearly always all are, and they go in many at a time.
func insertAttempts(ctx context.Context, conn *sql.Conn, lines []line) (fresh []line, err error) {
	if len(lines) == 0 {
		return nil, nil
	}
	if _, err := conn.ExecContext(ctx, "SAVEPOINT many"); err != nil {
		return nil, err
	}
	n, err := attemptRows.insert(ctx, conn, len(lines), func(i int) []any { return attemptRow(&lines[i]) })
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
		n, err := attemptRows.insert(ctx, conn, 1, func(int) []any { return attemptRow(&lines[i]) })
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
	into: `attempts (invocation, attempt, timestamp, status, class, error, rule, exit_code, signal, wait_ms, gate_wait_ms, response_ms,
		cpu_ms, retry_at, model, input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens, cost_usd, left_running,
		orphans_killed, requests, inner_wait_ms, planned_wait_ms, session, belay_exit_code, first_token_ms, inner_retries, tools,
		tool_calls, tools_cut, unknown_usage, unknown_costs, estimated_costs, profile, command)`,
	columns:  37,
	conflict: "DO NOTHING",
}

func attemptRow(l *line) []any {
	u := &l.usage
	return []any{l.Invocation, l.Attempt, l.Timestamp.UnixMilli(), string(l.Status), classOf(&l.Entry), null(l.Error), null(l.Rule), l.ExitCode,
		null(l.Signal), ms(l.WaitTime) - ms(l.Planned()), ms(l.GateWait), ms(l.ResponseTime), ms(l.CPUTime), nullTime(l.RetryAt), null(l.Model), u.InputTokens,
		u.OutputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, nullCost(u.CostUSD), l.Left, l.Killed, l.Requests,
		ms(l.InnerWait), ms(l.Planned()), null(l.Session), nullInt(l.BelayCode), nullZero(ms(l.FirstToken)), l.InnerRetries, nullList(l.Tools),
		nullList(l.ToolCalls), l.ToolsCut, l.unknownUsage(), l.unknownCosts(), l.estimatedCosts(), ifFallback(l, l.Profile), ifFallback(l, l.Command)}
}

// ifFallback is a text that differs from that of the run in attempts of a fallback, and is null in others.
func ifFallback(l *line, text string) any {
	if l.Fallback == "" {
		return nil
	}
	return text
}

// final says that the invocation ended with this line.
func final(e *journal.Entry) bool { return e.Status != journal.Retry }

// fault says that a line is about a failure of a hook or an MCP server: as in faulty, and as alerts count them.
func fault(e *journal.Entry) bool {
	switch {
	case e.Status != journal.Error:
		return false
	case e.Kind == journal.MCP:
		return alert.CountsCall(string(e.ErrorType))
	}
	return e.Kind == journal.Hook && alert.Counts(string(e.ErrorType), e.Rule, true)
}

// upsertInvocations adds the lines up, an invocation a row.
func upsertInvocations(ctx context.Context, conn *sql.Conn, lines []line) error {
	sums := map[string]*invocation{}
	order := make([]*invocation, 0, len(lines))
	for i := range lines {
		inv := sums[lines[i].Invocation]
		if inv == nil {
			inv = &invocation{}
			sums[lines[i].Invocation] = inv
			order = append(order, inv)
		}
		inv.add(&lines[i])
	}
	if _, err := invocationRows.insert(ctx, conn, len(order), func(i int) []any { return order[i].row() }); err != nil {
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
	into: `invocations (id, started, timestamp, profile, command, model, session, status, class, exit_code, attempts, wait_ms,
		response_ms, input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens, cost_usd, retry_at, gate, prompt_hash,
		requests, belay_exit_code, inner_retries, unknown_usage, unknown_costs, parent, traceparent, estimated_costs, no_costs, name, tags, project, fallback, machine, batch, task, line)`,
	columns: 38,
	conflict: `(id) DO UPDATE SET started = min(started, excluded.started), timestamp = excluded.timestamp,
		fallback = coalesce(excluded.fallback, fallback), model = coalesce(excluded.model, model), session = coalesce(excluded.session, session), status = excluded.status,
		class = excluded.class, exit_code = excluded.exit_code, attempts = attempts + excluded.attempts,
		wait_ms = wait_ms + excluded.wait_ms, response_ms = response_ms + excluded.response_ms,
		requests = requests + excluded.requests, retry_at = excluded.retry_at, gate = coalesce(excluded.gate, gate), prompt_hash = coalesce(excluded.prompt_hash, prompt_hash),
		belay_exit_code = excluded.belay_exit_code, inner_retries = inner_retries + excluded.inner_retries,
		parent = coalesce(excluded.parent, parent), traceparent = coalesce(excluded.traceparent, traceparent),` + keepLabels + keepTask + ` no_costs = no_costs + excluded.no_costs,` + addUsage,
}

// keepLabels keeps the labels that lines have had, of which a later one may have none.
const keepLabels = " name = coalesce(excluded.name, name), tags = coalesce(excluded.tags, tags), project = coalesce(excluded.project, project), machine = coalesce(excluded.machine, machine),"

// keepTask does the same for what a batch calls a run.
const keepTask = " batch = coalesce(excluded.batch, batch), task = coalesce(excluded.task, task), line = coalesce(excluded.line, line),"

// addUsage adds to sums of usage. The cost is what is known of that of the attempts; the others are counted beside it.
const addUsage = ` input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens,
	cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens,
	cache_creation_tokens = cache_creation_tokens + excluded.cache_creation_tokens,
	cost_usd = CASE WHEN excluded.cost_usd IS NULL THEN cost_usd ELSE coalesce(cost_usd, 0) + excluded.cost_usd END,
	unknown_usage = unknown_usage + excluded.unknown_usage, unknown_costs = unknown_costs + excluded.unknown_costs,
	estimated_costs = estimated_costs + excluded.estimated_costs`

// invocation is the sum of its lines.
type invocation struct {
	first, last *journal.Entry
	end         *line // the last one
	started     int64
	attempts    int
	sum         sums
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
	if e.Attempt > 0 {
		inv.attempts++
	}
	if e.Model != "" {
		inv.model = e.Model
	}
	if e.Session != "" {
		inv.session = e.Session
	}
	inv.sum.add(l)
}

func (inv *invocation) row() []any {
	e, u := inv.last, inv.sum.used
	return []any{e.Invocation, inv.started, e.Timestamp.UnixMilli(), inv.first.Profile, inv.first.Command, null(inv.model), null(inv.session), string(e.Status),
		classOf(e), e.ExitCode, inv.attempts, inv.sum.wait, inv.sum.response, u.InputTokens, u.OutputTokens, u.CacheReadInputTokens,
		u.CacheCreationInputTokens, nullCost(inv.sum.cost), nullTime(e.RetryAt), null(e.Gate), null(e.PromptHash),
		inv.sum.requests, nullInt(e.BelayCode), inv.sum.innerRetries, inv.sum.unknownUsage, inv.sum.unknownCosts, null(e.Parent),
		null(e.Traceparent), inv.sum.estimatedCosts, inv.sum.noCosts, null(e.Name), nullTags(e.Tags), null(e.Project), null(e.Fallback), null(inv.end.machine),
		null(e.Batch), null(e.Task), nullZero(int64(e.Line))}
}

// rollupKey is a row of sums.
type rollupKey struct {
	quarter               int64
	profile, model, class string
}

// quarter is the length of a rollup's time, in milliseconds.
const quarter = 15 * 60 * 1000

func upsertRollup(ctx context.Context, conn *sql.Conn, lines []line) error {
	all := map[rollupKey]*tally{}
	var order []rollupKey
	for i := range lines {
		e := &lines[i].Entry
		key := rollupKey{floorDiv(e.Timestamp.UnixMilli(), quarter), e.Profile, e.Model, classOf(e)}
		t := all[key]
		if t == nil {
			t = &tally{}
			all[key] = t
			order = append(order, key)
		}
		t.add(&lines[i])
	}
	slices.SortFunc(order, rollupKey.compare)
	_, err := rollupRows.insert(ctx, conn, len(order), func(i int) []any {
		return order[i].row(all[order[i]])
	})
	if err != nil {
		return err
	}
	return upsertMeters(ctx, conn, all)
}

// row is that of a key and its sums.
func (k rollupKey) row(t *tally) []any {
	u := t.used
	return []any{k.quarter, k.profile, k.model, k.class, t.attempts, t.refused, t.ended, t.succeeded, t.wait, t.response, u.InputTokens,
		u.OutputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, nullCost(t.cost), t.requests, t.faults, t.unknownUsage,
		t.unknownCosts, t.estimatedCosts}
}

// rollupColumns are those of a rollup, and addRollup adds to them.
const (
	rollupColumns = `quarter, profile, model, class, attempts, refused, ended, succeeded, wait_ms, response_ms, input_tokens, output_tokens,
		cache_read_tokens, cache_creation_tokens, cost_usd, requests, faults, unknown_usage, unknown_costs, estimated_costs`
	addRollup = ` attempts = attempts + excluded.attempts, refused = refused + excluded.refused,
		ended = ended + excluded.ended, succeeded = succeeded + excluded.succeeded, wait_ms = wait_ms + excluded.wait_ms,
		response_ms = response_ms + excluded.response_ms, requests = requests + excluded.requests, faults = faults + excluded.faults,` + addUsage
)

var rollupRows = rows{
	into:     "rollup (" + rollupColumns + ")",
	columns:  20,
	conflict: "(quarter, profile, model, class) DO UPDATE SET" + addRollup,
}
