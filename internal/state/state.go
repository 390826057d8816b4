// Package state keeps what Belay remembers: a directory with the log of all attempts, the records of runs under way,
// gates, scopes, sessions and alerts, shared by all processes of a user.
package state

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/look"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/spool"
	"github.com/belay-run/belay/internal/supervise"
)

// DirVar is the environment variable that names the state directory.
const DirVar = "BELAY_STATE_DIR"

// FoldVar is the environment variable that, as "off", keeps a failed run from having its log taken into the database.
const FoldVar = "BELAY_FOLD"

// RehearsalVar is set for the runs of a rehearsal. Their sessions are in a home of the rehearsal's own, so belay run cannot continue
// them.
const RehearsalVar = "BELAY_REHEARSAL"

// DefaultDir is where the state is kept: $BELAY_STATE_DIR, else the place that the system has for such things
// ($XDG_STATE_HOME/belay, ~/.local/state/belay).
func DefaultDir() (string, error) {
	if dir := os.Getenv(DirVar); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "belay"), nil
	}
	if runtime.GOOS == "windows" {
		dir, err := os.UserCacheDir() // %LocalAppData%
		return filepath.Join(dir, "belay"), err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no place for the state: %w; set %s", err, DirVar)
	}
	return filepath.Join(home, ".local", "state", "belay"), nil
}

// State is a state directory. Before it is written to, [State.Prepare] must have found that it can be used and trusted.
type State struct {
	Dir string
	// Prices say what model calls of runs that were killed cost; nil means the list that is built in.
	Prices *price.Table
	// Rows, if not nil, have the records of short runs; see [supervise.Rows].
	Rows *supervise.Rows
	// Ready says that [State.Prepare] has been called, and that what killed processes have left was dealt with: a caller with many runs does
	// that once for all of them.
	Ready bool
}

// Open returns the state of a directory that can be used and trusted; an empty dir means [DefaultDir].
func Open(dir string) (*State, error) {
	s := &State{Dir: dir}
	if err := s.Prepare(); err != nil {
		return nil, err
	}
	return s, nil
}

// Prepare checks the directory and makes it if it is not there; an empty Dir becomes [DefaultDir]. A directory that others
// may write to is refused: they could forge our records.
func (s *State) Prepare() error {
	if s.Dir == "" {
		var err error
		if s.Dir, err = DefaultDir(); err != nil {
			return err
		}
	}
	info, err := os.Stat(s.Dir)
	if errors.Is(err, os.ErrNotExist) {
		if err = os.MkdirAll(s.Dir, 0o700); err == nil {
			info, err = os.Stat(s.Dir)
		}
	}
	if err != nil {
		return err
	}
	return trusted(s.Dir, info)
}

// LogPath is the log of all attempts.
func (s *State) LogPath() string { return filepath.Join(s.Dir, "log.jsonl") }

// OpenLog opens the log of all attempts for reading.
func (s *State) OpenLog() (*os.File, error) { return safefile.OpenOwn(s.LogPath(), os.O_RDONLY) }

// Recent calls a function for each entry in the last bytes of the log, about so many. whole says that there are no others.
func (s *State) Recent(bytes int64, each func(journal.Entry)) (whole bool) {
	f, err := s.OpenLog()
	if err != nil {
		return true
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return true
	}
	from := max(info.Size()-bytes, 0)
	for e := range journal.Read(io.NewSectionReader(f, from, info.Size()-from), nil) {
		each(e)
	}
	return from == 0
}

// LastWritten is the latest time in the last lines of the log, or that of the file if it is later; zero if there is none.
func (s *State) LastWritten() (last time.Time) {
	if info, err := os.Stat(s.LogPath()); err == nil {
		last = info.ModTime()
	}
	s.Recent(8<<10, func(e journal.Entry) { last = latest(last, e.Timestamp.Time) })
	return last
}

// Log is the log of all attempts. onLarge, if not nil, is told when it has grown too large.
func (s *State) Log(onLarge func(path string)) journal.Log {
	return journal.Log{Path: s.LogPath(), OnLarge: onLarge}
}

// Alerts counts the failures of integrations.
func (s *State) Alerts() alert.Files { return alert.Files{Dir: filepath.Join(s.Dir, "alerts")} }

// Gates are the gates that all processes share.
func (s *State) Gates() *gate.Files { return &gate.Files{Dir: filepath.Join(s.Dir, "gates")} }

// Budgets are what all processes have spent, by the names of budgets.
func (s *State) Budgets() budget.Files { return budget.Files{Dir: filepath.Join(s.Dir, "budgets")} }

// RunCosts are what runs under way have cost that may not cost more than so much, by their ids.
func (s *State) RunCosts() budget.Files {
	return budget.Files{Dir: filepath.Join(s.Dir, "costs"), OneLock: true}
}

// Scopes are the keys of which one run may be alive at a time.
func (s *State) Scopes() gate.Slots {
	return gate.Slots{Dir: filepath.Join(s.Dir, "scopes"), Fleeting: true}
}

// Spools are the outputs of detached runs.
func (s *State) Spools() spool.Files { return spool.Files{Dir: filepath.Join(s.Dir, "spool")} }

// BatchDir is where it is remembered which batches there are.
func (s *State) BatchDir() string { return filepath.Join(s.Dir, "batches") }

// Looks are the sockets of those who look at what an agent prints.
func (s *State) Looks() look.Sockets { return look.Sockets{Dir: filepath.Join(s.Dir, "looks")} }

// Records are the runs under way. The first to find one whose owner is dead puts it on record.
func (s *State) Records() supervise.Records {
	return supervise.Records{Dir: filepath.Join(s.Dir, "runs"), Killed: s.killed}
}

// CreateRecord writes the record of a run that begins; the directory for it is made when it is missing.
func (s *State) CreateRecord(rec supervise.Record) (*supervise.Record, error) {
	if made, ok := s.Rows.Create(rec); ok {
		return made, nil
	}
	records := s.Records()
	if err := safefile.MakeOwnDir(records.Dir); err != nil {
		return nil, err
	}
	return records.Create(rec)
}
