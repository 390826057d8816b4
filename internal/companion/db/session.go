package db

import (
	"context"
	"database/sql"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/verdict"
)

// upsertSessions adds the lines up by session: a failed run sets its session to failed, with the message.
func (d *DB) upsertSessions(ctx context.Context, conn *sql.Conn, lines []line) error {
	all := map[[2]string]*session{}
	var order []*session
	for i := range lines {
		e := &lines[i].Entry
		if e.Session == "" {
			continue
		}
		key := [2]string{e.Profile, e.Session}
		s := all[key]
		if s == nil {
			s = &session{}
			all[key] = s
			order = append(order, s)
		}
		s.add(&lines[i])
	}
	if len(order) == 0 {
		return nil
	}
	there := d.sessionFiles()
	_, err := sessionRows.insert(ctx, conn, len(order), func(i int) []any { return order[i].row(there) })
	return err
}

var sessionRows = rows{
	into: `sessions (profile, id, dir, status, error_message, model, started, timestamp, invocations, attempts, input_tokens, output_tokens,
		cache_read_tokens, cache_creation_tokens, cost_usd, unknown_usage, unknown_costs, estimated_costs, no_costs, name, tags, project, machine)`,
	columns: 23,
	conflict: `(profile, id) DO UPDATE SET dir = coalesce(excluded.dir, dir), status = excluded.status, error_message = excluded.error_message,
		model = coalesce(excluded.model, model), started = min(started, excluded.started), timestamp = excluded.timestamp,
		invocations = invocations + excluded.invocations, attempts = attempts + excluded.attempts,
` + keepLabels + ` no_costs = no_costs + excluded.no_costs,` + addUsage,
}

// session is the sum of its lines.
type session struct {
	last            *journal.Entry
	labels          journal.Entry // a line with those of the session, which a program that handles its failure need not share
	started         int64
	ended, attempts int
	sum             sums
	model           string
	machine         string
}

func (s *session) add(l *line) {
	e := &l.Entry
	if s.last == nil {
		s.started = e.Timestamp.UnixMilli() - ms(e.ResponseTime)
	}
	s.last, s.machine = e, l.machine
	if handled(e) {
		return // of a run that is counted, or of none
	}
	s.labels = *e
	if e.Attempt > 0 {
		s.attempts++
	}
	if final(e) {
		s.ended++
	}
	if e.Model != "" {
		s.model = e.Model
	}
	s.sum.add(l)
}

func (s *session) row(there sessionFiles) []any {
	e, u := s.last, s.sum.used
	status, message := "failed", e.Error
	switch {
	case e.Status == journal.Success:
		status, message = "done", ""
	case !final(e):
		status, message = "running", ""
	case e.ErrorType == verdict.Interrupted:
		status = "interrupted"
	}
	return []any{e.Profile, e.Session, null(there.dir(e.Profile, e.Session)), status, null(message), null(s.model), s.started,
		e.Timestamp.UnixMilli(), s.ended, s.attempts, u.InputTokens, u.OutputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens,
		nullCost(s.sum.cost), s.sum.unknownUsage, s.sum.unknownCosts, s.sum.estimatedCosts, s.sum.noCosts, null(s.labels.Name), nullTags(s.labels.Tags), null(s.labels.Project), null(s.machine)}
}

// abandonSessions ends those that a retry has left: the run's next line is about another session, or about none.
func abandonSessions(ctx context.Context, conn *sql.Conn, lines []line) error {
	if !slices.ContainsFunc(lines, func(l line) bool { return l.Attempt != 1 }) {
		return nil
	}
	_, err := conn.ExecContext(ctx, `UPDATE sessions SET status = 'abandoned' WHERE status = 'running' AND EXISTS (
		SELECT 1 FROM attempts a JOIN attempts b ON b.invocation = a.invocation
		WHERE a.session = sessions.id AND a.timestamp = sessions.timestamp AND a.status = 'retry' AND b.timestamp >= a.timestamp
			AND (b.attempt > a.attempt OR b.attempt = 0) AND coalesce(b.session, '') <> a.session)`)
	return err
}

// maxSession bounds what is read of a session's file, which has a few hundred bytes.
const maxSession = 1 << 20

// sessionFiles are the names of the session files of the state directory, which know where a session belongs.
type sessionFiles struct {
	path  string
	names map[string]bool
}

func (d *DB) sessionFiles() sessionFiles {
	f := sessionFiles{path: filepath.Join(d.dir, "sessions"), names: map[string]bool{}}
	names, _ := safefile.ReadOwnDir(f.path)
	for _, name := range names {
		f.names[name] = true
	}
	return f
}

// dir is the directory of a session; empty if it is not known.
func (f sessionFiles) dir(profile, id string) string {
	name := profile + "-" + id + ".json"
	if !f.names[name] {
		return ""
	}
	var s struct {
		Dir string `json:"dir"`
	}
	if data, err := safefile.ReadOwn(filepath.Join(f.path, name), maxSession); err == nil {
		json.Unmarshal(data, &s)
	}
	return s.Dir
}
