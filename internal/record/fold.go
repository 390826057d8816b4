package record

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/record/database"
	"github.com/belay-run/belay/internal/record/logfile"
)

// folder is how a record is brought up to date: from the log of its directory, or from the feed of a fleet.
type folder struct {
	db   *database.DB
	feed Feed
}

// Fold brings the record up to date with the log, as far as that reached when it began. It returns an error if it cannot
// write, because other processes keep writing or the disk is full; what has been folded by then stays, and can be queried.
func (f folder) Fold(ctx context.Context) (sum Folded, err error) {
	if f.db.ReadOnly() || f.db.Name == FleetName && f.feed == nil {
		return sum, nil
	}
	sum, err = f.fold(ctx)
	if database.Damaged(err) {
		if err = f.db.Rebuild(err); err == nil {
			sum, err = f.fold(ctx)
		}
	}
	return sum, err
}

// FoldAlone is Fold for processes in the background: of many that are started at the same time one folds, and the others
// leave it to that one. They may, because a process that has folded looks once more before it ends, and the lines that
// the others were started for were in the log before they started.
func (f folder) FoldAlone(ctx context.Context) error {
	for {
		lock, held := database.TryLock(f.db.Path() + ".fold")
		if !held {
			return nil // another process is folding
		}
		sum, err := f.Fold(ctx)
		lock.Close()
		if err != nil || sum == (Folded{}) {
			return err
		}
	}
}

func (f folder) fold(ctx context.Context) (sum Folded, err error) {
	if f.feed != nil {
		return (&fleetFold{db: f.db, feed: f.feed}).run(ctx)
	}
	list, err := f.files()
	if err != nil {
		return sum, err
	}
	defer logfile.CloseAll(list)
	for _, s := range list {
		if err := f.foldFile(ctx, s, &sum); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// foldFile folds what a log has beyond the place where it was left, a piece at a time.
func (f folder) foldFile(ctx context.Context, s *logfile.File, sum *Folded) error {
	for {
		at, err := placeOf(ctx, f.db.SQL, s.Identity())
		if err != nil {
			return err
		}
		from, err := resume(s, at)
		if err != nil || from >= s.Size() {
			return err
		}
		p, err := read(s, from)
		if err != nil || p.to == from {
			return err
		}
		tail, err := s.Tail(p.to)
		if err != nil {
			return err
		}
		err = f.db.Write(ctx, func(conn *sql.Conn) error {
			// Read again, now that no other process can write: so every line is folded exactly once.
			if now, err := placeOf(ctx, conn, s.Identity()); err != nil || now != at {
				return errors.Join(err, errMoved)
			}
			if err := apply(ctx, conn, f.db.Dir, p.lines); err != nil {
				return err
			}
			return movePlace(ctx, conn, s.Identity(), s.Name(), tail, p)
		})
		if errors.Is(err, errMoved) && ctx.Err() == nil && database.Code(err) == 0 {
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
func resume(s *logfile.File, at place) (int64, error) {
	if !at.known {
		return 0, nil
	}
	if at.position > s.Size() {
		if !s.Live() {
			return s.Size(), nil // a copy of what was folded
		}
		return 0, nil
	}
	tail, err := s.Tail(at.position)
	if err == nil && tail != at.tail {
		return 0, nil
	}
	return at.position, err
}

// Progress is how many bytes the logs have, and how many of them are folded.
func (f folder) Progress(ctx context.Context) (folded, total int64) {
	if f.feed != nil {
		return 0, 0
	}
	list, err := f.files()
	if err != nil {
		return 0, 0
	}
	defer logfile.CloseAll(list)
	for _, s := range list {
		total += s.Size()
		if at, err := placeOf(ctx, f.db.SQL, s.Identity()); err == nil {
			folded += min(at.position, s.Size())
		}
	}
	return folded, total
}

// files are the files of the log. What is not read is said once.
func (f folder) files() ([]*logfile.File, error) {
	list, refused, err := logfile.Files(f.db.Dir)
	for _, r := range refused {
		f.db.SayOnce(fmt.Sprintf("%v and is not read", r))
	}
	return list, err
}

// Updated is when the record of a fleet was last brought up to date; zero if it never was.
func (f folder) Updated(ctx context.Context) time.Time {
	var at int64
	if f.db.SQL.QueryRowContext(ctx, "SELECT folded FROM logs WHERE identity = ?", feedPlace).Scan(&at) != nil {
		return time.Time{}
	}
	return moment(at)
}
