package record

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/record/database"
	"github.com/belay-run/belay/verdict"
)

// Runs are questions about the runs on record.
type Runs struct{ db *database.DB }

// Invocation is one request of a caller, from its first attempt to its last.
type Invocation struct {
	ID       string    `json:"id"`
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"timestamp"`
	Profile  string    `json:"profile"`
	Command  string    `json:"command"`
	Fallback string    `json:"fallback,omitempty"` // the one that answered
	Model    string    `json:"model,omitempty"`
	Session  string    `json:"session_id,omitempty"`
	Outcome
	Effort
	RetryAt    *time.Time `json:"retry_at,omitempty"`
	Gate       string     `json:"gate,omitempty"`
	PromptHash string     `json:"prompt_hash,omitempty"`
	Prompt     string     `json:"prompt,omitempty"` // how it begins, if that is kept
	Parent     string     `json:"parent,omitempty"` // the run that it was started in
	Trace      string     `json:"traceparent,omitempty"`
	Error      string     `json:"error,omitempty"`     // of the last attempt
	Why        string     `json:"why_ended,omitempty"` // it is the last one; empty where the error says it, and for runs of older versions

	Labels
	Task
}

// Labels are what runs are labelled with.
type Labels struct {
	Name    string            `json:"name,omitempty"`
	Tags    map[string]string `json:"tags,omitempty"`
	Project string            `json:"project,omitempty"`
	Machine string            `json:"machine,omitempty"` // in the record of a fleet
}

// Outcome is how a run has ended.
type Outcome struct {
	Status    string `json:"status"` // success, error, exhausted; retry while there is no end
	Class     string `json:"class"`
	ExitCode  int    `json:"exit_code"`                 // the command's
	BelayCode *int   `json:"belay_exit_code,omitempty"` // belay's own
}

// Effort is what a run has taken.
type Effort struct {
	Attempts   int           `json:"attempts"`
	Requests   int64         `json:"requests"`
	Inner      int64         `json:"inner_retries"` // that the command has made by itself
	WaitMS     int64         `json:"wait_ms"`
	ResponseMS int64         `json:"response_ms"`
	Usage      verdict.Usage `json:"usage"` // the cost is null if nothing is known of that of an attempt, and 0 if nothing was used
}

// Task is what a batch calls a run; empty for a run of its own.
type Task struct {
	Batch string `json:"batch,omitempty"` // its results
	Task  string `json:"task,omitempty"`  // the id
	Line  int    `json:"line,omitempty"`  // in the file of tasks, from 1
}

// lastAttempt is that of a run which ended it.
const lastAttempt = ` FROM attempts a WHERE a.invocation = i.id ORDER BY a.timestamp DESC, a.attempt = 0 DESC, a.attempt DESC LIMIT 1), '')`

const invocationColumns = `i.id, i.started, i.timestamp, i.profile, i.command, coalesce(i.model, ''), coalesce(i.session, ''), i.status, i.class,
	i.exit_code, i.attempts, i.wait_ms, i.response_ms, i.input_tokens, i.output_tokens, i.cache_read_tokens, i.cache_creation_tokens,
	iif(i.no_costs > 0, NULL, iif(i.belay_exit_code IS NULL, i.cost_usd, coalesce(i.cost_usd, 0))), i.unknown_usage > 0,
	i.no_costs <= 0 AND i.estimated_costs > 0, i.retry_at, coalesce(i.gate, ''), coalesce(i.prompt_hash, ''), i.requests,
	i.belay_exit_code, i.inner_retries, coalesce(i.parent, ''), coalesce(i.traceparent, ''),
	coalesce((SELECT a.error` + lastAttempt + `, coalesce((SELECT a.why` + lastAttempt + `,
	coalesce(i.name, ''), coalesce(i.tags, ''), coalesce(i.project, ''), coalesce(i.fallback, ''), coalesce(i.machine, ''),
	coalesce(i.batch, ''), coalesce(i.task, ''), coalesce(i.line, 0), coalesce(i.prompt, '')`

// Invocations returns those that the filter lets through, oldest first.
func (r Runs) Invocations(ctx context.Context, f Filter) ([]Invocation, error) {
	w := f.ofInvocations()
	query := "SELECT " + invocationColumns + " FROM invocations i" + w.String() + " ORDER BY " + f.order()
	return database.Newest(ctx, r.db, query, w.args, f.Limit, scanInvocation)
}

func scanInvocation(r *sql.Rows) (inv Invocation, err error) {
	var started, ended int64
	var retryAt *int64
	var tags string
	u := &inv.Usage
	err = r.Scan(&inv.ID, &started, &ended, &inv.Profile, &inv.Command, &inv.Model, &inv.Session, &inv.Status, &inv.Class, &inv.ExitCode,
		&inv.Attempts, &inv.WaitMS, &inv.ResponseMS, &u.InputTokens, &u.OutputTokens, &u.CacheReadInputTokens,
		&u.CacheCreationInputTokens, &u.CostUSD, &u.Unknown, &u.Estimated, &retryAt, &inv.Gate, &inv.PromptHash, &inv.Requests, &inv.BelayCode, &inv.Inner,
		&inv.Parent, &inv.Trace, &inv.Error, &inv.Why, &inv.Name, &tags, &inv.Project, &inv.Fallback, &inv.Machine, &inv.Batch, &inv.Task.Task, &inv.Line, &inv.Prompt)
	inv.Started, inv.Ended, inv.Tags = moment(started), moment(ended), tagsOf(tags)
	inv.RetryAt = timeOf(retryAt)
	return inv, err
}

// Attempt is one start of the command, or a refusal (attempt 0).
type Attempt struct {
	Invocation string    `json:"invocation"`
	Attempt    int       `json:"attempt"`
	Ended      time.Time `json:"timestamp"`
	Profile    string    `json:"profile"`
	Command    string    `json:"command"`
	AttemptOutcome
	Timing
	Requests int64         `json:"requests"`
	Inner    int64         `json:"inner_retries,omitempty"` // that the command has made by itself
	RetryAt  *time.Time    `json:"retry_at,omitempty"`
	Model    string        `json:"model,omitempty"`
	Session  string        `json:"session_id,omitempty"`
	Usage    verdict.Usage `json:"usage"`
	ToolUse
	Check   *journal.Check `json:"check,omitempty"` // of the work that it has done
	Left    int            `json:"left_running,omitempty"`
	Killed  int            `json:"orphans_killed,omitempty"`
	Memory  int64          `json:"peak_memory_bytes,omitempty"`
	Machine string         `json:"machine,omitempty"` // in the record of a fleet
	// ModelAsked is the model that was asked for where Model is another one.
	ModelAsked string `json:"model_asked,omitempty"`
}

// AttemptOutcome is how an attempt has ended.
type AttemptOutcome struct {
	Status    string `json:"status"`
	Class     string `json:"class"`
	Error     string `json:"error,omitempty"`
	Rule      string `json:"rule,omitempty"`
	ExitCode  int    `json:"exit_code"`                 // the command's
	BelayCode *int   `json:"belay_exit_code,omitempty"` // belay's own, of the last attempt
	Signal    string `json:"signal,omitempty"`
	Worktree  string `json:"worktree,omitempty"`  // what has become of the work, where that was in a tree of its own
	Why       string `json:"why_ended,omitempty"` // it was the last attempt, or how the run went on at once
}

// Timing is how long an attempt took, and what was waited for it.
type Timing struct {
	WaitMS     int64  `json:"wait_ms"`                   // inside it, and before the next attempt
	InnerMS    int64  `json:"inner_wait_ms"`             // of that, inside it
	PlannedMS  int64  `json:"planned_wait_ms,omitempty"` // to be waited before the next attempt, while that is not known to be over
	GateWaitMS int64  `json:"gate_wait_ms"`              // before this one was let in
	ResponseMS int64  `json:"response_ms"`
	FirstMS    *int64 `json:"first_token_ms,omitempty"`
	CPUMS      int64  `json:"cpu_ms"`
}

// ToolUse is which tools an agent has used, the first calls of them, and how many more there were.
type ToolUse struct {
	Tools     []journal.Tool     `json:"tools,omitempty"`
	ToolCalls []journal.ToolCall `json:"tool_calls,omitempty"`
	ToolsCut  int                `json:"tools_cut,omitempty"`
}

// Began is when it was started. A check of its work comes behind it.
func (a *Attempt) Began() time.Time {
	took := time.Duration(a.ResponseMS) * time.Millisecond
	if a.Check != nil {
		took += time.Duration(a.Check.Time * float64(time.Second))
	}
	return a.Ended.Add(-took)
}

const attemptColumns = `a.invocation, a.attempt, a.timestamp, coalesce(a.profile, i.profile), coalesce(a.command, i.command), a.status, a.class, coalesce(a.error, ''), coalesce(a.rule, ''),
	a.exit_code, coalesce(a.signal, ''), a.wait_ms, a.gate_wait_ms, a.response_ms, a.cpu_ms, a.retry_at, coalesce(a.model, ''), a.input_tokens,
	a.output_tokens, a.cache_read_tokens, a.cache_creation_tokens, a.cost_usd, a.unknown_usage > 0, a.estimated_costs > 0, a.left_running, a.orphans_killed, a.requests,
	coalesce(a.session, ''), a.belay_exit_code, a.first_token_ms, a.inner_retries, coalesce(a.tools, ''), coalesce(a.tool_calls, ''), a.tools_cut,
	a.inner_wait_ms, a.planned_wait_ms, coalesce(i.machine, ''), coalesce(a.checked, ''), coalesce(a.model_asked, ''), coalesce(a.worktree, ''), a.peak_memory, coalesce(a.why, '')`

// Attempts returns those that the filter lets through, oldest first.
func (r Runs) Attempts(ctx context.Context, f Filter) ([]Attempt, error) {
	w := &where{}
	w.times("a.timestamp", f)
	f.labels(w, "i.")
	narrow(w, f, "coalesce(a.profile, i.profile)", "a.class")
	w.is("i.session", f.Session)
	w.is("a.invocation", f.Invocation)
	query := "SELECT " + attemptColumns + " FROM attempts a JOIN invocations i ON i.id = a.invocation" + w.String() +
		" ORDER BY a.timestamp DESC, a.attempt = 0 DESC, a.attempt DESC"
	return database.Newest(ctx, r.db, query, w.args, f.Limit, scanAttempt)
}

func scanAttempt(r *sql.Rows) (a Attempt, err error) {
	var ended int64
	var retryAt *int64
	var tools, calls, check string
	u := &a.Usage
	err = r.Scan(&a.Invocation, &a.Attempt, &ended, &a.Profile, &a.Command, &a.Status, &a.Class, &a.Error, &a.Rule, &a.ExitCode, &a.Signal,
		&a.WaitMS, &a.GateWaitMS, &a.ResponseMS, &a.CPUMS, &retryAt, &a.Model, &u.InputTokens, &u.OutputTokens,
		&u.CacheReadInputTokens, &u.CacheCreationInputTokens, &u.CostUSD, &u.Unknown, &u.Estimated, &a.Left, &a.Killed, &a.Requests, &a.Session, &a.BelayCode,
		&a.FirstMS, &a.Inner, &tools, &calls, &a.ToolsCut, &a.InnerMS, &a.PlannedMS, &a.Machine, &check, &a.ModelAsked, &a.Worktree, &a.Memory, &a.Why)
	a.Ended, a.RetryAt = moment(ended), timeOf(retryAt)
	json.Unmarshal([]byte(tools), &a.Tools) // what is empty stays so
	json.Unmarshal([]byte(calls), &a.ToolCalls)
	json.Unmarshal([]byte(check), &a.Check)
	return a, err
}

// Recent returns the newest runs that the filter lets through, newest first, at most Limit. It is [Runs.Invocations] for records of any size: the
// sums say in which quarters of an hour there is something, and only those are looked through.
func (r Runs) Recent(ctx context.Context, f Filter) ([]Invocation, error) {
	if f.Session != "" || f.Invocation != "" || f.Order != "" || f.Limit <= 0 || f.Profile == "" && !f.labelled() {
		list, err := r.Invocations(ctx, f) // which indexes serve
		slices.Reverse(list)
		return list, err
	}
	quarters, err := r.quartersOf(ctx, f)
	if err != nil {
		return nil, err
	}
	var list []Invocation
	for size := 1; len(quarters) > 0 && len(list) < f.Limit; size = min(2*size, 64) {
		n := min(size, len(quarters))
		some := quarters[:n]
		quarters = quarters[n:]
		for len(some) > 0 && len(list) < f.Limit { // quarters that follow each other are one question
			end := 1
			for end < len(some) && some[end] == some[end-1]-1 {
				end++
			}
			found, err := r.between(ctx, f, some[end-1], some[0]+1, f.Limit-len(list))
			if err != nil {
				return nil, err
			}
			list, some = append(list, found...), some[end:]
		}
	}
	return list, nil
}

// between returns the newest runs of the filter in some quarters.
func (r Runs) between(ctx context.Context, f Filter, first, end int64, limit int) ([]Invocation, error) {
	if since := time.UnixMilli(first * quarter); f.Since.Before(since) {
		f.Since = since
	}
	if until := time.UnixMilli(end * quarter); f.Until.IsZero() || f.Until.After(until) {
		f.Until = until
	}
	f.Limit = limit
	list, err := r.Invocations(ctx, f)
	slices.Reverse(list)
	return list, err
}

// quartersOf are the quarters in which runs of the filter may have ended, newest first.
func (r Runs) quartersOf(ctx context.Context, f Filter) (list []int64, err error) {
	labels := f.labelList()
	table, w := "rollup", &where{}
	if len(labels) > 0 { // the others narrow what is found
		table = "label_rollup"
		w.and("label = ? AND value = ?", labels[0][0], labels[0][1])
	}
	w.quarters("quarter", f)
	narrow(w, f, "profile", "class")
	query := "SELECT DISTINCT quarter FROM " + table + w.String()
	args := w.args
	if f.Profile != "" { // a run that a fallback has ended counts there as one of the fallback's
		more := &where{}
		more.and("fallback IS NOT NULL")
		more.times("timestamp", f)
		query += " UNION SELECT timestamp / 900000 FROM invocations" + more.String()
		args = append(args, more.args...)
	}
	return database.Collect(ctx, r.db, query+" ORDER BY 1 DESC", args, database.Scalar[int64])
}

// ByID is the run of an id; nil if it is not on record.
func (r Runs) ByID(ctx context.Context, id string) (*Invocation, error) {
	list, err := database.Newest(ctx, r.db, "SELECT "+invocationColumns+" FROM invocations i WHERE i.id = ?", []any{id}, 1, scanInvocation)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// Children are runs that were started in another one, oldest first.
func (r Runs) Children(ctx context.Context, id string, limit int) ([]Invocation, error) {
	return database.Newest(ctx, r.db, "SELECT "+invocationColumns+" FROM invocations i WHERE i.parent = ? ORDER BY i.timestamp DESC, i.id DESC", []any{id}, limit, scanInvocation)
}
