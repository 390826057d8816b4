package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/belay-run/belay/internal/supervise"
)

// StateDirVar is the environment variable that names the state directory.
const StateDirVar = "BELAY_STATE_DIR"

// FoldVar is the environment variable that, as "off", keeps a failed run from having its log taken into the database.
const FoldVar = "BELAY_FOLD"

// DefaultStateDir is where log, run records and spooled output are kept: $BELAY_STATE_DIR, else the place that the
// system has for such things ($XDG_STATE_HOME/belay, ~/.local/state/belay).
func DefaultStateDir() (string, error) {
	if dir := os.Getenv(StateDirVar); dir != "" {
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
		return "", fmt.Errorf("no place for the state: %w; set %s", err, StateDirVar)
	}
	return filepath.Join(home, ".local", "state", "belay"), nil
}

// State is a state directory that can be used and trusted.
type State struct{ Dir string }

// OpenState checks the directory and makes it if it is not there. One that others may write to is refused: they
// could put words into our records.
func OpenState(dir string) (*State, error) {
	if dir == "" {
		var err error
		if dir, err = DefaultStateDir(); err != nil {
			return nil, err
		}
	}
	info, err := os.Stat(dir)
	if errors.Is(err, os.ErrNotExist) {
		if err = os.MkdirAll(dir, 0o700); err == nil {
			info, err = os.Stat(dir)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := trusted(dir, info); err != nil {
		return nil, err
	}
	return &State{Dir: dir}, nil
}

// LogPath is the log of all attempts.
func (s *State) LogPath() string { return filepath.Join(s.Dir, "log.jsonl") }

// Records are the runs under way. Whoever finds one whose owner is dead puts it on record.
func (s *State) Records() supervise.Records {
	return supervise.Records{Dir: filepath.Join(s.Dir, "runs"), Killed: s.killed}
}

// create writes the record of a run; the directory for it is made when it is missing.
func (s *State) create(rec supervise.Record) (*supervise.Record, error) {
	made, err := s.Records().Create(rec)
	if errors.Is(err, os.ErrNotExist) {
		if err = os.Mkdir(s.Records().Dir, 0o700); err == nil || errors.Is(err, os.ErrExist) {
			made, err = s.Records().Create(rec)
		}
	}
	return made, err
}
