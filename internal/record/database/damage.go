package database

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Code is SQLite's own code of an error, without the details; 0 if it is not one of SQLite's.
func Code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xFF
	}
	return 0
}

// Damaged says that the file is no sound database.
func Damaged(err error) bool {
	c := Code(err)
	return c == lib.SQLITE_CORRUPT || c == lib.SQLITE_NOTADB || errors.Is(err, errForeign)
}

// unwritable says that the state directory cannot be written: it can still be read.
func unwritable(err error) bool {
	c := Code(err)
	return c == lib.SQLITE_READONLY || c == lib.SQLITE_CANTOPEN || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// Locked says that other processes were writing all the time, or that one has set aside the file that was to be read.
func Locked(err error) bool {
	c := Code(err)
	return c == lib.SQLITE_BUSY || c == lib.SQLITE_LOCKED || c == lib.SQLITE_PROTOCOL
}

// Full says that there is no room.
func Full(err error) bool {
	return Code(err) == lib.SQLITE_FULL || errors.Is(err, syscall.ENOSPC) || Code(err) == lib.SQLITE_IOERR
}

// checkIntegrity looks through the whole database.
func checkIntegrity(d *sql.DB) error {
	var answer string
	if err := d.QueryRow("PRAGMA quick_check(1)").Scan(&answer); err != nil {
		return err
	}
	if answer != "ok" {
		return errors.New(answer)
	}
	return nil
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
