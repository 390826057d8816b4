package record

import (
	"context"
	"database/sql"
	"encoding/json"
	"path/filepath"
	"slices"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/record/database"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/verdict"
)

// upsertSessions adds the lines up by session: a failed run sets its session to failed, with the message.
func upsertSessions(ctx context.Context, conn *sql.Conn, dir string, lines []line) error {
	lines = slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return l.Session == "" })
	if len(lines) == 0 {
		return nil
	}
	order := grouped(lines, func(l *line) [2]string { return [2]string{l.Profile, l.Session} }, (*session).add)
	there := sessionsIn(dir)
	_, err := sessionRows.insert(ctx, conn, len(order), func(i int) ([]any, *Figures) { return order[i].row(there) })
	return err
}

var sessionRows = rows{
	table: "sessions", key: "profile, id", figures: inSessions,
	columns: "profile, id, dir, status, error_message, model, started, timestamp, invocations, name, tags, project, machine",
	update: slices.Concat([]string{leastStarted, "invocations = invocations + excluded.invocations"}, latest("status", "error_message", "timestamp"),
		keep("dir", "model", "name", "tags", "project", "machine")),
}

// session is the sum of its lines.
type session struct {
	last    *journal.Entry
	labels  journal.Entry // a line with those of the session, which a program that handles its failure need not share
	started int64
	sum     Figures
	model   string
	machine string
}

func (s *session) add(l *line) {
	e := &l.Entry
	if s.last == nil {
		s.started = l.begun() + ms(e.GateWait)
	}
	s.last, s.machine = e, l.machine
	if handled(e) {
		return // of a run that is counted, or of none
	}
	s.labels = *e
	if e.Model != "" {
		s.model = e.Model
	}
	s.sum.Add(l.figures())
}

func (s *session) row(there sessionFiles) ([]any, *Figures) {
	e := s.last
	status, message := "failed", e.Error
	switch {
	case e.Status == journal.Success:
		status, message = "done", ""
	case !final(e):
		status, message = "running", ""
	case e.ErrorType == verdict.Interrupted:
		status = "interrupted"
	}
	return []any{e.Profile, e.Session, null(there.dir(e.Profile, e.Session)), status, null(message), null(s.model), s.started, e.Timestamp.UnixMilli(),
		s.sum.Invocations, null(s.labels.Name), nullTags(s.labels.Tags), null(s.labels.Project), null(s.machine)}, &s.sum
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

func sessionsIn(dir string) sessionFiles {
	f := sessionFiles{path: filepath.Join(dir, "sessions"), names: map[string]bool{}}
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

// Sessions are what is on record of agents' conversations.
type Sessions struct{ db *database.DB }

// Session is what is on record of an agent's conversation.
type Session struct {
	Profile     string        `json:"profile"`
	ID          string        `json:"id"`
	Dir         string        `json:"dir,omitempty"`
	Status      string        `json:"status"` // running, done, failed, interrupted, abandoned
	Error       string        `json:"error_message,omitempty"`
	Model       string        `json:"model,omitempty"`
	Started     time.Time     `json:"started"`
	Updated     time.Time     `json:"timestamp"`
	Invocations int           `json:"invocations"`
	Attempts    int           `json:"attempts"`
	Usage       verdict.Usage `json:"usage"`
	Labels                    // of its last run that had any
}

// sessionRuns is how many runs have used a session: those that ended with it, and those that have left it or use it still.
// Rows from before the third schema do not have their session.
const sessionRuns = "max(invocations, (SELECT count(DISTINCT a.invocation) FROM attempts a WHERE a.session = sessions.id))"

// List returns those that the filter lets through, the one that was used last at the end.
func (s Sessions) List(ctx context.Context, f Filter, status string) ([]Session, error) {
	w := &where{}
	w.times("timestamp", f)
	f.labels(w, "")
	w.is("profile", f.Profile)
	w.is("status", status)
	if f.Session != "" {
		w.and("? IN (substr(id, 1, ?), substr(id, -?))", f.Session, len(f.Session), len(f.Session))
	}
	query := `SELECT profile, id, coalesce(dir, ''), status, coalesce(error_message, ''), coalesce(model, ''), started, timestamp, ` + sessionRuns + `,
		attempts, input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens, iif(no_costs > 0, NULL, cost_usd),
		unknown_usage > 0, no_costs <= 0 AND estimated_costs > 0, coalesce(name, ''), coalesce(tags, ''), coalesce(project, ''), coalesce(machine, '') FROM sessions` + w.String() +
		" ORDER BY timestamp DESC, id DESC"
	return database.Newest(ctx, s.db, query, w.args, f.Limit, func(r *sql.Rows) (s Session, err error) {
		var started, updated int64
		var tags string
		u := &s.Usage
		err = r.Scan(&s.Profile, &s.ID, &s.Dir, &s.Status, &s.Error, &s.Model, &started, &updated, &s.Invocations, &s.Attempts, &u.InputTokens,
			&u.OutputTokens, &u.CacheReadInputTokens, &u.CacheCreationInputTokens, &u.CostUSD, &u.Unknown, &u.Estimated, &s.Name, &tags, &s.Project, &s.Machine)
		s.Tags = tagsOf(tags)
		s.Started, s.Updated = moment(started), moment(updated)
		return s, err
	})
}
