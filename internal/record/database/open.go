package database

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/flock"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
)

// Open opens a database, and makes or migrates it first where that is needed. Where nothing can be written, it can still be asked.
func Open(o Options) (*DB, error) {
	d := &DB{Options: o}
	if _, err := os.Stat(d.Dir); errors.Is(err, fs.ErrNotExist) {
		return d.inMemory() // nothing was ever run, and to ask changes nothing
	}
	err := d.openBeside()
	switch {
	case Damaged(err):
		err = d.Rebuild(err)
	case unwritable(err):
		return d.openFixed(message.RecordNotWritable(d.Dir))
	case Full(err):
		return d.openFixed("no space left in " + d.Dir)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// openFixed opens a record that cannot be written, and says why not. Without a database that can be read, the log is folded
// into memory.
func (d *DB) openFixed(why string) (*DB, error) {
	if info, err := os.Lstat(d.Path()); err != nil || info.Size() == 0 {
		return d.inMemory()
	}
	d.readOnly = true
	if err := cmp.Or(safefile.CheckOwn(d.Path()), d.checkBeside()); err != nil {
		return nil, err
	}
	q := "mode=ro"
	if info, err := os.Stat(d.Path() + "-wal"); err != nil || info.Size() == 0 {
		q += "&immutable=1" // there is nothing beside it, so no lock is needed; there may be no place for one
	}
	var err error
	d.SQL, err = sql.Open("sqlite", address(d.Path(), q))
	if err == nil {
		var version int
		if version, err = d.version(context.Background(), d.SQL); err == nil && version < len(d.Migrations) {
			err = message.Error(fmt.Sprintf("the record has an older schema (%d) and cannot be written", version))
		}
	}
	switch {
	case errors.Is(err, ErrNewer):
		return nil, err
	case err != nil:
		d.SQL.Close()
		d.readOnly = false
		if d, err = d.inMemory(); err == nil {
			d.Said = append(d.Said, message.Sentences(why, "this answer comes from the rest of the log"))
		}
		return d, err
	}
	d.Said = append(d.Said, message.Sentences(why, fmt.Sprintf("%s is missing from this answer, but not lost", d.Lacks(d.SQL))))
	return d, nil
}

// inMemory is a record in memory, which ends with the process.
func (d *DB) inMemory() (_ *DB, err error) {
	if d.SQL, err = sql.Open("sqlite", ":memory:"); err != nil {
		return nil, err
	}
	d.SQL.SetMaxOpenConns(1) // each connection would have a memory of its own
	if err := d.migrate(); err != nil {
		d.SQL.Close()
		return nil, err
	}
	return d, nil
}

// openBeside opens while no process sets a damaged database aside: its three files must belong to the same database. One
// that is not in WAL mode yet is opened by one process at a time, because SQLite does not wait for its locks to switch.
func (d *DB) openBeside() error {
	mode := flock.Shared
	if !d.inWALMode() {
		mode = flock.Exclusive
	}
	lock, err := lockFile(d.Path()+".lock", mode)
	if err == nil { // where nothing can be written, no process sets anything aside
		defer lock.Close()
	}
	return d.open()
}

// inWALMode says whether the file's header names WAL as what is needed to read and write it.
func (d *DB) inWALMode() bool {
	f, err := safefile.OpenOwn(d.Path(), os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	var versions [2]byte
	_, err = f.ReadAt(versions[:], 18)
	return err == nil && versions == [2]byte{2, 2}
}

func (d *DB) open() error {
	// SQLite would make it as readable as the umask says; its other files get the mode of this one.
	f, err := safefile.OpenOwn(d.Path(), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	f.Close()
	if err := d.checkBeside(); err != nil {
		return err
	}
	if err := d.connect("busy_timeout(%d)", "journal_mode(WAL)", "synchronous(NORMAL)"); err != nil {
		return err
	}
	err = d.migrate()
	if err != nil {
		d.SQL.Close()
	}
	return err
}

// Rebuild sets a damaged database aside and begins anew, from what is left of the log. Of several processes that find the
// damage at the same time one does so: the others find the new one.
func (d *DB) Rebuild(cause error) error {
	lock, err := lockFile(d.Path()+".lock", flock.Exclusive)
	if err != nil {
		return message.Error(message.RecordDamaged(d.Path(), cause, err), cause, err)
	}
	defer lock.Close()
	if d.SQL != nil {
		d.SQL.Close()
	}
	if err := d.open(); err == nil {
		if err = checkIntegrity(d.SQL); err == nil {
			return nil
		}
		d.SQL.Close()
	} else if !Damaged(err) {
		return err
	}
	aside := fmt.Sprintf("%s.damaged-%s", d.Path(), time.Now().UTC().Format("20060102T150405.000"))
	if err := os.Rename(d.Path(), aside); err != nil {
		return message.Error(message.Sentences(message.RecordDamaged(d.Path(), cause, err), "move it away"), cause, err)
	}
	for _, more := range []string{"-wal", "-shm"} {
		// SQLite would apply the old file's journal to the new one.
		if err := os.Rename(d.Path()+more, aside+more); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	d.Said = append(d.Said, fmt.Sprintf("the record was damaged (%v). It is now %s, and was rebuilt from the log", message.Error(strings.TrimSpace(cause.Error())), aside))
	return d.open()
}
