package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/record/database"
	"github.com/belay-run/belay/internal/record/logfile"
	"github.com/belay-run/belay/internal/safefile"
)

// pruner removes what is old.
type pruner struct{ db *database.DB }

// Prune removes what is older than before: rows, session files, and logs that were moved aside. Of the logs nothing is
// removed that has not been folded. The log itself is moved aside when its first lines are that old, so that a later call
// can remove it. dry says what would be done.
func (d pruner) Prune(ctx context.Context, before time.Time, dry bool) (p Pruned, err error) {
	p = Pruned{Before: before, Logs: []string{}}
	if d.db.ReadOnly() {
		return p, message.Error(message.RecordNotWritable(d.db.Dir))
	}
	was := d.size()
	if err := removeOlder(ctx, d.db, &p, dry); err != nil {
		return p, err
	}
	if err := d.removeLogs(ctx, &p, dry); err != nil {
		return p, err
	}
	if err := d.removeSessions(&p, dry); err != nil {
		return p, err
	}
	if !dry && p.Rows > 0 {
		if _, err := d.db.SQL.ExecContext(ctx, "VACUUM"); err != nil && !database.Locked(err) && !database.Full(err) {
			return p, err
		}
		d.db.SQL.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	}
	p.Bytes = max(0, was-d.size())
	return p, nil
}

// removeLogs removes logs that were moved aside, and moves the log itself aside.
func (d pruner) removeLogs(ctx context.Context, p *Pruned, dry bool) error {
	list, err := folder{db: d.db}.files()
	if err != nil {
		return err
	}
	defer logfile.CloseAll(list)
	shipped, member := logfile.ReadShipped(d.db.Dir)
	for _, s := range list {
		info, err := s.Stat()
		if err != nil {
			return err
		}
		at, err := placeOf(ctx, d.db.SQL, s.Identity())
		if err != nil {
			return err
		}
		path := filepath.Join(d.db.Dir, s.Name())
		switch {
		case s.Live():
			if at.known && s.Begins().Before(p.Before) {
				p.Rotated = fmt.Sprintf("%s.%s", s.Name(), time.Now().UTC().Format("20060102T150405"))
				if !dry {
					if err := moveAside(path, filepath.Join(d.db.Dir, p.Rotated)); err != nil {
						return err
					}
				}
			}
		case info.ModTime().After(p.Before), time.Since(info.ModTime()) < logfile.MinAge:
		case !at.known || at.position < info.Size(): // not folded: the record would lose its lines
		case member && shipped[s.Identity()] < info.Size(): // the fleet would not get its lines
		default:
			p.Logs = append(p.Logs, s.Name())
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

// removeSessions removes the files of sessions that were not used for so long.
func (d pruner) removeSessions(p *Pruned, dry bool) error {
	dir := filepath.Join(d.db.Dir, "sessions")
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
func (d pruner) size() (sum int64) {
	paths, _ := filepath.Glob(logfile.Escape(logfile.Path(d.db.Dir)) + "*")
	sessions, _ := filepath.Glob(filepath.Join(logfile.Escape(d.db.Dir), "sessions", "*"))
	paths = append(append(paths, sessions...), d.db.Path(), d.db.Path()+"-wal")
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

// Before finds the time before which everything has to be removed for the record to take no more than size bytes.
func (d pruner) Before(ctx context.Context, size int64) (before time.Time, err error) {
	now := d.size()
	if now <= size {
		return time.Time{}, nil
	}
	var n int64
	if err := d.db.Row(ctx, "SELECT count(*) FROM invocations", nil, &n); err != nil || n == 0 {
		return time.Time{}, err
	}
	// All invocations take about the same space: remove the share of them by which the record is too large.
	drop := n * (now - size) / now
	var at int64
	err = d.db.Row(ctx, "SELECT timestamp FROM invocations ORDER BY timestamp LIMIT 1 OFFSET ?", []any{min(drop, n-1)}, &at)
	return moment(at + 1), err
}
