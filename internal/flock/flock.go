// Package flock locks files between processes.
//
// A lock is taken on an open file and lasts until that file is closed; the system closes it when the process ends, however
// it ends, so a lock is never left behind. Only those that ask for the lock are kept out: it does not keep other processes
// from reading or writing the file. Two opens of a file exclude each other within one process too.
//
// The file of a lock must not be deleted while others may lock it: they would then hold the lock of the old file while
// another process holds that of a new one with the same name. Otherwise they have to ask [Named].
package flock

import (
	"os"
	"path/filepath"
	"time"

	"github.com/belay-run/belay/internal/safefile"
)

// Mode says whether others may have the lock at the same time.
type Mode uint8

const (
	// Exclusive is a lock that one process has alone.
	Exclusive Mode = iota
	// Shared is a lock that any number of processes may have while none has it alone.
	Shared
)

// Open opens the file of a lock, and creates it for this user alone if it is missing. It is a file of Belay's own, see
// package safefile.
func Open(path string) (*os.File, error) { return safefile.OpenOwn(path, os.O_RDWR|os.O_CREATE) }

// OpenAll is Open, and creates the directory too, which is Belay's own as well.
func OpenAll(path string) (*os.File, error) {
	if err := safefile.MakeOwnDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return Open(path)
}

// Try takes the lock of an open file if that is possible at once. The error is [errors.ErrUnsupported] on a file system that
// has no locks; some network and FUSE file systems have none.
func Try(f *os.File, mode Mode) (held bool, err error) { return try(f, mode) }

// Claim takes an open file for this process alone, by whatever name it was opened, and reports whether no other has claimed it. A lock that others
// hold on the file is not in its way, as that of flock(1) in a script. Where the system knows nothing of the kind, it is always true.
func Claim(f *os.File) bool { return claim(f) }

// Lock takes the lock of an open file, and waits for it as long as it takes. The error is [errors.ErrUnsupported] on a file
// system that has no locks.
func Lock(f *os.File, mode Mode) error { return lock(f, mode) }

// Named reports whether an open file still is the one of its name. What locks a file that its holder may remove has to ask when it has the lock.
func Named(f *os.File) bool {
	opened, err := f.Stat()
	named, gone := os.Lstat(f.Name())
	return err == nil && gone == nil && os.SameFile(opened, named)
}

// Between two tries Wait sleeps for firstPause, then for twice as long each time, up to lastPause.
const (
	firstPause = 50 * time.Microsecond
	lastPause  = 8 * time.Millisecond
)

// Wait calls try, which is [Try] as a rule, until it returns true or an error. After each try in vain it asks giveUp, with
// the time that it has waited; if that returns an error, Wait returns it. It polls because a lock that the system waits for
// can neither be bounded in time nor given up. Package retry has longer pauses, for services.
func Wait(try func() (held bool, err error), giveUp func(waited time.Duration) error) error {
	begun := time.Now()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		if held, err := try(); held || err != nil {
			return err
		}
		if err := giveUp(time.Since(begun)); err != nil {
			return err
		}
		time.Sleep(pause)
	}
}
