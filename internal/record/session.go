package record

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
	lines = slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return l.Session == "" })
	if len(lines) == 0 {
		return nil
	}
	order := grouped(lines, func(l *line) [2]string { return [2]string{l.Profile, l.Session} }, (*session).add)
	there := d.sessionFiles()
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
