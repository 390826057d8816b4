package db

import (
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
