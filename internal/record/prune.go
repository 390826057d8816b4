package record

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
)

// Pruned is what was removed.
type Pruned struct {
	Before      time.Time `json:"before"`
	Invocations int64     `json:"invocations"`
	Rows        int64     `json:"rows"` // over all tables
	Logs        []string  `json:"logs"` // files of the log that were removed
	Rotated     string    `json:"rotated,omitempty"`
	Sessions    int       `json:"session_files"`
	Outputs     int       `json:"outputs"` // of detached runs
	Bytes       int64     `json:"bytes"`   // that the state directory is smaller
}

// minLogAge is how long a log that was moved aside is kept at least: a writer that had opened it may still write its line.
const minLogAge = time.Minute

// Prune removes what is older than before: rows, session files, and logs that were moved aside. Of the logs nothing is
// removed that has not been folded. The log itself is moved aside when its first lines are that old, so that a later call
// can remove it. dry says what would be done.
func (d *DB) Prune(ctx context.Context, before time.Time, dry bool) (p Pruned, err error) {
	p = Pruned{Before: before, Logs: []string{}}
	if d.readOnly {
		return p, message.Error(message.RecordNotWritable(d.dir))
	}
	was := d.size()
	if err := d.pruneRows(ctx, &p, dry); err != nil {
		return p, err
	}
	if err := d.pruneLogs(ctx, &p, dry); err != nil {
		return p, err
	}
	if err := d.pruneSessions(&p, dry); err != nil {
		return p, err
	}
	if !dry && p.Rows > 0 {
		if _, err := d.sql.ExecContext(ctx, "VACUUM"); err != nil && !Locked(err) && !Full(err) {
			return p, err
		}
		d.sql.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	}
	p.Bytes = max(0, was-d.size())
	return p, nil
}

// older are the rows to be removed, by table. An invocation is removed with its attempts, and only when it has ended.
var older = []struct{ table, where string }{
	{"outbox", "invocation IN (SELECT id FROM invocations WHERE timestamp < ?1)"},
	{"attempts", "invocation IN (SELECT id FROM invocations WHERE timestamp < ?1)"},
	{"invocations", "timestamp < ?1"},
	{"events", "timestamp < ?1"},
	{"audit", "timestamp < ?1"},
	{"alerts", "timestamp < ?1"},
	{"sessions", "timestamp < ?1"},
	{"rollup", "quarter < ?1 / 900000"},
	{"label_rollup", "quarter < ?1 / 900000"},
	{"first_tokens", "quarter < ?1 / 900000"},
}

func (d *DB) pruneRows(ctx context.Context, p *Pruned, dry bool) error {
	return d.write(ctx, func(conn *sql.Conn) error {
		for _, o := range older {
			var n int64
			if dry {
				if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM "+o.table+" WHERE "+o.where, p.Before.UnixMilli()).Scan(&n); err != nil {
					return err
				}
			} else {
				res, err := conn.ExecContext(ctx, "DELETE FROM "+o.table+" WHERE "+o.where, p.Before.UnixMilli())
				if err != nil {
					return err
				}
				n, _ = res.RowsAffected()
			}
			if o.table == "invocations" {
				p.Invocations = n
			}
			p.Rows += n
		}
		return nil
	})
}

// pruneLogs removes logs that were moved aside, and moves the log itself aside.
func (d *DB) pruneLogs(ctx context.Context, p *Pruned, dry bool) error {
	list, err := d.sources()
	if err != nil {
		return err
	}
	defer closeAll(list)
	shipped, member := readShipped(d.dir)
	for _, s := range list {
		info, err := s.file.Stat()
		if err != nil {
			return err
		}
		at, err := placeOf(ctx, d.sql, s.identity)
		if err != nil {
			return err
		}
		path := filepath.Join(d.dir, s.name)
		switch {
		case s.live:
			if at.known && d.begins(s).Before(p.Before) {
				p.Rotated = fmt.Sprintf("%s.%s", s.name, time.Now().UTC().Format("20060102T150405"))
				if !dry {
					if err := moveAside(path, filepath.Join(d.dir, p.Rotated)); err != nil {
						return err
					}
				}
			}
		case info.ModTime().After(p.Before), time.Since(info.ModTime()) < minLogAge:
		case !at.known || at.position < info.Size(): // not folded: the record would lose its lines
		case member && shipped[s.identity] < info.Size(): // the fleet would not get its lines
		default:
			p.Logs = append(p.Logs, s.name)
			if !dry {
				if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
		}
	}
	return nil
}

// moveAside renames a file to a name that no other file has.
func moveAside(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return message.Error(to + " already exists. Try again in a second")
	}
	return os.Rename(from, to)
}

// begins is the time of a log's first line.
func (d *DB) begins(s *source) time.Time {
	buf := make([]byte, 64)
	n, _ := s.file.ReadAt(buf, 0)
	_, rest, _ := strings.Cut(string(buf[:n]), `"timestamp":"`)
	text, _, _ := strings.Cut(rest, `"`)
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Now()
	}
	return t
}

// pruneSessions removes the files of sessions that were not used for so long.
func (d *DB) pruneSessions(p *Pruned, dry bool) error {
	dir := filepath.Join(d.dir, "sessions")
	names, err := safefile.ReadOwnDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil || !info.Mode().IsRegular() || !info.ModTime().Before(p.Before) || !isSession(filepath.Join(dir, name)) {
			continue
		}
		p.Sessions++
		if !dry {
			if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return err
}

// isSession reports whether a file is what is on record of a session.
func isSession(path string) bool {
	var session struct{ Profile, ID string }
	data, err := safefile.ReadOwn(path, 1<<20)
	return err == nil && json.Unmarshal(data, &session) == nil && session.Profile != "" && session.ID != ""
}

// size is what the record takes on the disk.
func (d *DB) size() (sum int64) {
	paths, _ := filepath.Glob(globEscape(d.LogPath()) + "*")
	sessions, _ := filepath.Glob(filepath.Join(globEscape(d.dir), "sessions", "*"))
	paths = append(append(paths, sessions...), d.Path(), d.Path()+"-wal")
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

// Before finds the time before which everything has to be removed for the record to take no more than size bytes.
func (d *DB) Before(ctx context.Context, size int64) (before time.Time, err error) {
	now := d.size()
	if now <= size {
		return time.Time{}, nil
	}
	var n int64
	if err := d.row(ctx, "SELECT count(*) FROM invocations", nil, &n); err != nil || n == 0 {
		return time.Time{}, err
	}
	// All invocations take about the same space: remove the share of them by which the record is too large.
	drop := n * (now - size) / now
	var at int64
	err = d.row(ctx, "SELECT timestamp FROM invocations ORDER BY timestamp LIMIT 1 OFFSET ?", []any{min(drop, n-1)}, &at)
	return moment(at + 1), err
}
