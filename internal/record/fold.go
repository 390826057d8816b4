package record

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// Folded is what a fold has done.
type Folded struct {
	Lines int
	Torn  int // lines that a killed writer has left unfinished
}

// errMoved says that another process has folded meanwhile.
var errMoved = errors.New("another has folded")

// Fold brings the record up to date with the log, as far as that reached when it began. It returns an error if it cannot
// write, because other processes keep writing or the disk is full; what has been folded by then stays, and can be queried.
func (d *DB) Fold(ctx context.Context) (sum Folded, err error) {
	if d.readOnly || d.name == FleetName && d.feed == nil {
		return sum, nil
	}
	sum, err = d.fold(ctx)
	if damaged(err) {
		if err = d.rebuild(err); err == nil {
			sum, err = d.fold(ctx)
		}
	}
	return sum, err
}

// FoldAlone is Fold for processes in the background: of many that are started at the same time one folds, and the others
// leave it to that one. They may, because a process that has folded looks once more before it ends, and the lines that
// the others were started for were in the log before they started.
func (d *DB) FoldAlone(ctx context.Context) error {
	for {
		lock, held := tryLockFile(d.Path() + ".fold")
		if !held {
			return nil // another process is folding
		}
		sum, err := d.Fold(ctx)
		lock.Close()
		if err != nil || sum == (Folded{}) {
			return err
		}
	}
}

func (d *DB) fold(ctx context.Context) (sum Folded, err error) {
	if d.feed != nil {
		return d.foldFeed(ctx)
	}
	list, err := d.sources()
	if err != nil {
		return sum, err
	}
	defer closeAll(list)
	for _, s := range list {
		if err := d.foldSource(ctx, s, &sum); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// place is how far a log has been folded.
type place struct {
	position int64
	tail     string
	known    bool
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func placeOf(ctx context.Context, q querier, identity string) (p place, err error) {
	err = q.QueryRowContext(ctx, "SELECT position, tail FROM logs WHERE identity = ?", identity).Scan(&p.position, &p.tail)
	if errors.Is(err, sql.ErrNoRows) {
		return p, nil
	}
	p.known = err == nil
	return p, err
}

// foldSource folds what a log has beyond the place where it was left, a piece at a time.
func (d *DB) foldSource(ctx context.Context, s *source, sum *Folded) error {
	for {
		at, err := placeOf(ctx, d.sql, s.identity)
		if err != nil {
			return err
		}
		from, err := s.resume(at)
		if err != nil || from >= s.size {
			return err
		}
		p, err := s.read(from)
		if err != nil || p.to == p.from {
			return err
		}
		tail, err := s.tail(p.to)
		if err != nil {
			return err
		}
		err = d.write(ctx, func(conn *sql.Conn) error {
			// Read again, now that no other process can write: so every line is folded exactly once.
			if now, err := placeOf(ctx, conn, s.identity); err != nil || now != at {
				return errors.Join(err, errMoved)
			}
			if err := d.apply(ctx, conn, p.lines); err != nil {
				return err
			}
			return movePlace(ctx, conn, s.identity, s.name, tail, p)
		})
		if errors.Is(err, errMoved) && ctx.Err() == nil && code(err) == 0 {
			continue
		}
		if err != nil {
			return err
		}
		sum.Lines += len(p.lines)
		sum.Torn += p.torn
	}
}

// resume is where to go on. A log that is not what it was at that place has been changed by hand: it is read from the
// beginning, and what is known already is passed over.
func (s *source) resume(at place) (int64, error) {
	if !at.known {
		return 0, nil
	}
	if at.position > s.size {
		if !s.live {
			return s.size, nil // a copy of what was folded
		}
		return 0, nil
	}
	tail, err := s.tail(at.position)
	if err == nil && tail != at.tail {
		return 0, nil
	}
	return at.position, err
}

// movePlace puts on record that a piece has been folded.
func movePlace(ctx context.Context, conn *sql.Conn, identity, name, tail string, p piece) error {
	_, err := conn.ExecContext(ctx, `INSERT INTO logs (identity, name, position, tail, lines, torn, folded) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (identity) DO UPDATE SET name = excluded.name, position = excluded.position, tail = excluded.tail,
		lines = lines + excluded.lines, torn = torn + excluded.torn, folded = excluded.folded`,
		identity, name, p.to, tail, len(p.lines), p.torn, time.Now().UnixMilli())
	return err
}

// Progress is how many bytes the logs have, and how many of them are folded.
func (d *DB) Progress(ctx context.Context) (folded, total int64) {
	if d.feed != nil {
		return 0, 0
	}
	list, err := d.sources()
	if err != nil {
		return 0, 0
	}
	defer closeAll(list)
	for _, s := range list {
		total += s.size
		if at, err := placeOf(ctx, d.sql, s.identity); err == nil {
			folded += min(at.position, s.size)
		}
	}
	return folded, total
}
