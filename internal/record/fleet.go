package record

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/journal"
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

// OpenFleet opens the record of a fleet in a state directory. Without a feed it is what it was when it was last brought up to date.
func OpenFleet(dir string, feed Feed) (*DB, error) {
	return openRecord(&DB{dir: dir, name: FleetName, feed: feed})
}

// OfFleet reports whether it is the record of a fleet.
func (d *DB) OfFleet() bool { return d.name == FleetName }

// Updated is when the record of a fleet was last brought up to date; zero if it never was.
func (d *DB) Updated(ctx context.Context) time.Time {
	var at int64
	if d.sql.QueryRowContext(ctx, "SELECT folded FROM logs WHERE identity = ?", feedPlace).Scan(&at) != nil {
		return time.Time{}
	}
	return moment(at)
}

// foldFeed folds what the machines of a fleet have logged beyond the places where they were left.
func (d *DB) foldFeed(ctx context.Context) (sum Folded, err error) {
	if err := d.belongs(ctx); err != nil {
		return sum, err
	}
	files, err := d.feed.Files(ctx)
	if err != nil {
		return sum, err
	}
	for { // as far as they reached now
		behind, places, err := d.behind(ctx, files)
		if err != nil {
			return sum, err
		}
		if len(behind) == 0 {
			return sum, d.foldedFeed(ctx)
		}
		for len(behind) > 0 {
			n := batchOf(behind)
			if err := d.foldFiles(ctx, behind[:n], places[:n], &sum); err != nil {
				return sum, err
			}
			behind, places = behind[n:], places[n:]
		}
	}
}

// behind are the files that have more lines than were folded, and how far these were.
func (d *DB) behind(ctx context.Context, files []FeedFile) (list []FeedFile, places []place, err error) {
	for _, f := range files {
		at, err := placeOf(ctx, d.sql, f.key())
		if err != nil {
			return nil, nil, err
		}
		if at.tail == f.tail() {
			f.From = at.position // else it was changed by hand: what is known already is passed over
		}
		if f.From < f.To {
			list, places = append(list, f), append(places, at)
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
		if size += f.To - f.From; size > pieceSize && i > 0 {
			return i
		}
	}
	return len(files)
}

// foldFiles folds the next lines of files, in one transaction.
func (d *DB) foldFiles(ctx context.Context, files []FeedFile, places []place, sum *Folded) error {
	read, err := d.feed.Lines(ctx, files)
	if err != nil {
		return err
	}
	pieces := make([]piece, len(files))
	var all []line
	for i, r := range read {
		p := &pieces[i]
		p.from, p.to = files[i].From, r.To
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
	err = d.write(ctx, func(conn *sql.Conn) error {
		for i, f := range files {
			if now, err := placeOf(ctx, conn, f.key()); err != nil || now != places[i] {
				return errors.Join(err, errMoved)
			}
			if err := movePlace(ctx, conn, f.key(), f.Machine, f.tail(), pieces[i]); err != nil {
				return err
			}
		}
		return d.apply(ctx, conn, all)
	})
	if errors.Is(err, errMoved) && ctx.Err() == nil && code(err) == 0 {
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
func (d *DB) belongs(ctx context.Context) error {
	var id string
	err := d.sql.QueryRowContext(ctx, "SELECT name FROM logs WHERE identity = ?", feedPlace).Scan(&id)
	if err == nil && id == d.feed.ID() || err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return d.write(ctx, func(conn *sql.Conn) error {
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
		return movePlace(ctx, conn, feedPlace, d.feed.ID(), "", piece{})
	})
}

// foldedFeed puts on record that everything was folded, and removes what the fleet does not keep either.
func (d *DB) foldedFeed(ctx context.Context) error {
	keep := d.feed.Keep()
	var oldest sql.NullInt64
	if err := d.row(ctx, "SELECT min(timestamp) FROM invocations", nil, &oldest); err != nil {
		return err
	}
	if age := time.Since(moment(oldest.Int64)); keep > 0 && oldest.Valid && age > keep+24*time.Hour { // not each time
		if err := d.pruneRows(ctx, &Pruned{Before: time.Now().Add(-keep)}, false); err != nil {
			return err
		}
	}
	return d.write(ctx, func(conn *sql.Conn) error { return movePlace(ctx, conn, feedPlace, d.feed.ID(), "", piece{}) })
}
