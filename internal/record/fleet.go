package record

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/record/database"
	"github.com/belay-run/belay/internal/record/logfile"
)

// FleetName is the file of the record of a fleet, in the state directory of each machine that has asked for it.
const FleetName = "fleet.sqlite"

// Feed is the logs of the machines of a fleet.
type Feed interface {
	// ID identifies the fleet, and Keep is how long it keeps lines.
	ID() string
	Keep() time.Duration
	// Files are the files of all logs, and how far there are lines of them.
	Files(ctx context.Context) ([]FeedFile, error)
	// Lines are the next lines of files, each from its From on. A file that has another edition by now has none, up to its To.
	Lines(ctx context.Context, from []FeedFile) ([]FeedLines, error)
}

// FeedFile is a file of the log of a machine.
type FeedFile struct {
	Machine, Identity string
	Edition           int
	From, To          int64
}

// FeedLines are lines of a file, without their ends, and the position behind them.
type FeedLines struct {
	Lines []FeedLine
	To    int64
}

// FeedLine is a line as its machine has written it, and how far the clock of that was ahead.
type FeedLine struct {
	Text  []byte
	Ahead time.Duration
}

// feedPlace is the row of logs that says which fleet the record is of, and when it was brought up to date.
const feedPlace = "fleet"

// fleetFold brings the record of a fleet up to date.
type fleetFold struct {
	db   *database.DB
	feed Feed
}

// run folds what the machines of a fleet have logged beyond the places where they were left.
func (f *fleetFold) run(ctx context.Context) (sum Folded, err error) {
	if err := f.belongs(ctx); err != nil {
		return sum, err
	}
	files, err := f.feed.Files(ctx)
	if err != nil {
		return sum, err
	}
	for { // as far as they reached now
		behind, places, err := f.behind(ctx, files)
		if err != nil {
			return sum, err
		}
		if len(behind) == 0 {
			return sum, f.finish(ctx)
		}
		for len(behind) > 0 {
			n := batchOf(behind)
			if err := f.foldFiles(ctx, behind[:n], places[:n], &sum); err != nil {
				return sum, err
			}
			behind, places = behind[n:], places[n:]
		}
	}
}

// behind are the files that have more lines than were folded, and how far these were.
func (f *fleetFold) behind(ctx context.Context, files []FeedFile) (list []FeedFile, places []place, err error) {
	for _, file := range files {
		at, err := placeOf(ctx, f.db.SQL, file.key())
		if err != nil {
			return nil, nil, err
		}
		if at.tail == file.tail() {
			file.From = at.position // else it was changed by hand: what is known already is passed over
		}
		if file.From < file.To {
			list, places = append(list, file), append(places, at)
		}
	}
	return list, places, nil
}

func (f *FeedFile) key() string  { return f.Machine + "/" + f.Identity }
func (f *FeedFile) tail() string { return fmt.Sprint(f.Edition) }

// batchOf is how many files are folded in one transaction: about as much as is read of a log at a time, and one file at least.
func batchOf(files []FeedFile) int {
	size := int64(0)
	for i, f := range files {
		if size += f.To - f.From; size > logfile.PieceSize && i > 0 {
			return i
		}
	}
	return len(files)
}

// foldFiles folds the next lines of files, in one transaction.
func (f *fleetFold) foldFiles(ctx context.Context, files []FeedFile, places []place, sum *Folded) error {
	read, err := f.feed.Lines(ctx, files)
	if err != nil {
		return err
	}
	pieces := make([]piece, len(files))
	var all []line
	for i, r := range read {
		p := &pieces[i]
		p.to = r.To
		for _, l := range r.Lines {
			before := len(p.lines)
			p.add(l.Text, files[i].Machine)
			for j := before; j < len(p.lines); j++ {
				p.lines[j].onFleetTime(l.Ahead)
			}
		}
		all = append(all, p.lines...)
		sum.Torn += p.torn
	}
	err = f.db.Write(ctx, func(conn *sql.Conn) error {
		for i, file := range files {
			if now, err := placeOf(ctx, conn, file.key()); err != nil || now != places[i] {
				return errors.Join(err, errMoved)
			}
			if err := movePlace(ctx, conn, file.key(), file.Machine, file.tail(), pieces[i]); err != nil {
				return err
			}
		}
		return apply(ctx, conn, f.db.Dir, all)
	})
	if errors.Is(err, errMoved) && ctx.Err() == nil && database.Code(err) == 0 {
		return nil // another process has folded them, and what it has left is found by the next look
	}
	if err == nil {
		sum.Lines += len(all)
	}
	return err
}

// onFleetTime makes of a line what it is to the fleet: its times are those of a clock that is right, and its own machine sends it elsewhere.
func (l *line) onFleetTime(ahead time.Duration) {
	l.Telemetry = nil
	for _, t := range []*journal.Time{&l.Timestamp, &l.RetryAt} {
		if !t.IsZero() {
			t.Time = t.Add(-ahead)
		}
	}
}

// belongs forgets everything if it is of another fleet.
func (f *fleetFold) belongs(ctx context.Context) error {
	var id string
	err := f.db.SQL.QueryRowContext(ctx, "SELECT name FROM logs WHERE identity = ?", feedPlace).Scan(&id)
	if err == nil && id == f.feed.ID() || err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return f.db.Write(ctx, func(conn *sql.Conn) error {
		tables, err := conn.QueryContext(ctx, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
		if err != nil {
			return err
		}
		var names []string
		for tables.Next() {
			var name string
			if err := tables.Scan(&name); err != nil {
				return err
			}
			names = append(names, name)
		}
		if err := errors.Join(tables.Err(), tables.Close()); err != nil {
			return err
		}
		for _, name := range names {
			if _, err := conn.ExecContext(ctx, "DELETE FROM "+name); err != nil {
				return err
			}
		}
		return movePlace(ctx, conn, feedPlace, f.feed.ID(), "", piece{})
	})
}

// finish puts on record that everything was folded, and removes what the fleet does not keep either.
func (f *fleetFold) finish(ctx context.Context) error {
	keep := f.feed.Keep()
	var oldest sql.NullInt64
	if err := f.db.Row(ctx, "SELECT min(timestamp) FROM invocations", nil, &oldest); err != nil {
		return err
	}
	if age := time.Since(moment(oldest.Int64)); keep > 0 && oldest.Valid && age > keep+24*time.Hour { // not each time
		if err := removeOlder(ctx, f.db, &Pruned{Before: time.Now().Add(-keep)}, false); err != nil {
			return err
		}
	}
	return f.db.Write(ctx, func(conn *sql.Conn) error { return movePlace(ctx, conn, feedPlace, f.feed.ID(), "", piece{}) })
}
