package record

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/belay-run/belay/internal/flock"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
)

// code is SQLite's own code of an error, without the details; 0 if it is not one of SQLite's.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xFF
	}
	return 0
}

// damaged says that the file is no sound database.
func damaged(err error) bool {
	c := code(err)
	return c == lib.SQLITE_CORRUPT || c == lib.SQLITE_NOTADB || errors.Is(err, errForeign)
}

// unwritable says that the state directory cannot be written: it can still be read.
func unwritable(err error) bool {
	c := code(err)
	return c == lib.SQLITE_READONLY || c == lib.SQLITE_CANTOPEN || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// Locked says that other processes were writing all the time, or that one has set aside the file that was to be read.
func Locked(err error) bool {
	c := code(err)
	return c == lib.SQLITE_BUSY || c == lib.SQLITE_LOCKED || c == lib.SQLITE_PROTOCOL
}

// Full says that there is no room.
func Full(err error) bool {
	return code(err) == lib.SQLITE_FULL || errors.Is(err, syscall.ENOSPC) || code(err) == lib.SQLITE_IOERR
}

// rebuild sets a damaged database aside and begins anew, from what is left of the log. Of several processes that find the
// damage at the same time one does so: the others find the new one.
func (d *DB) rebuild(cause error) error {
	lock, err := lockFile(d.Path()+".lock", flock.Exclusive)
	if err != nil {
		return message.Error(message.RecordDamaged(d.Path(), cause, err), cause, err)
	}
	defer lock.Close()
	if d.sql != nil {
		d.sql.Close()
	}
	if err := d.open(); err == nil {
		if err = checkIntegrity(d.sql); err == nil {
			return nil
		}
		d.sql.Close()
	} else if !damaged(err) {
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

// lockFile waits for a lock, which lasts until the file is closed. It does not create the directory: where there is none,
// there is no record, and a question must not begin one.
func lockFile(path string, mode flock.Mode) (*os.File, error) {
	f, err := flock.Open(path)
	if err != nil {
		return nil, err
	}
	if err := flock.Lock(f, mode); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// tryLockFile takes a lock for this process alone; false if another has it, or there is no place for one. If something else
// has its name, no process can lock it, and each does without; the file is nil then, and can be closed.
func tryLockFile(path string) (*os.File, bool) {
	f, err := flock.Open(path)
	if _, refused := errors.AsType[*safefile.Error](err); refused {
		return nil, true
	}
	if err != nil {
		return nil, false
	}
	held, _ := flock.Try(f, flock.Exclusive)
	if !held {
		f.Close()
	}
	return f, held
}

// Health describes a database that is not damaged.
type Health struct {
	Invocations int64
	Torn        int64 // lines of the log that were not whole
	Size        int64
	Older       bool // its schema is that of an older version: the next command that reads it migrates it
}

// maxCheck is up to where a database is looked through as a whole: a second's work.
const maxCheck = 200 << 20

// Examine looks at the database of a state directory and changes nothing. What is wrong with it is the error.
func Examine(dir string) (h Health, err error) {
	d := &DB{dir: dir}
	info, err := os.Lstat(d.Path())
	if err == nil {
		err = cmp.Or(safefile.CheckOwn(d.Path()), d.checkBeside())
	}
	if err != nil {
		return h, err
	}
	if h.Size = info.Size(); h.Size == 0 {
		return h, nil
	}
	if err := d.connect("busy_timeout(%d)", "query_only(1)"); err != nil {
		return h, err
	}
	defer d.Close()
	ctx := context.Background()
	version, err := schemaOf(ctx, d.sql)
	if err != nil {
		return h, err
	}
	if version == 0 { // it is just being made, or is something else
		var tables int
		if err := d.sql.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
			return h, err
		}
		if tables == 0 {
			return h, fs.ErrNotExist
		}
		if version, err = schemaOf(ctx, d.sql); err == nil && version == 0 {
			err = errForeign
		}
		if err != nil {
			return h, err
		}
	}
	h.Older = version < len(migrations)
	if h.Size < maxCheck {
		if err := checkIntegrity(d.sql); err != nil {
			return h, err
		}
	}
	var torn sql.NullInt64
	if err := d.sql.QueryRow("SELECT count(*) FROM invocations").Scan(&h.Invocations); err != nil {
		return h, err
	}
	err = d.sql.QueryRow("SELECT sum(torn) FROM logs").Scan(&torn)
	h.Torn = torn.Int64
	return h, err
}

// OpenError is an error of [Open] with what to do about it.
func OpenError(dir string, err error) error {
	refused, ok := errors.AsType[*safefile.Error](err)
	switch {
	case ok:
		return message.Error(fmt.Sprintf("cannot open the record: %v. Move that file away, and the record is rebuilt from the log", refused), refused)
	case errors.Is(err, ErrNewer):
		return err
	case Full(err):
		return message.Error(message.RecordFull(dir, err), err)
	case Locked(err):
		return message.Error(fmt.Sprintf("the record in %s is busy (%v). Try again", dir, err), err)
	}
	return message.Error(message.RecordUnusable(dir, err), err)
}
