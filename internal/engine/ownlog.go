package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/belay-run/belay/internal/journal"
)

// NoLogDir as [Runner.LogDir] means that an agent's runs are put on record nowhere but in the state directory.
const NoLogDir = "none"

// ownLog is where an agent's attempts are also put on record, because scripts around it look there: a file in the
// directory .logs where it runs, or where the caller says.
func (inv *Invocation) ownLog(e journal.Entry) {
	if inv.talk == nil || inv.talk.traits.OwnLog == "" || inv.runner.LogDir == NoLogDir {
		return
	}
	dir, asked := inv.runner.LogDir, inv.runner.LogDir != ""
	if !asked {
		dir = filepath.Join(inv.dir(), ".logs")
	}
	err := ownDir(dir, !asked)
	if err == nil {
		log := journal.Log{Path: filepath.Join(dir, inv.talk.traits.OwnLog), NoFollow: true,
			OnLarge: func(path string) { inv.observe(LogLarge{Path: path, Own: true}) }}
		err = log.Append(e)
	}
	if err != nil && !inv.logTroubled {
		inv.logTroubled = true
		inv.observe(OwnLogTrouble{Dir: dir, Err: err, Asked: asked})
	}
}

// ownDir makes a directory for a log. One that nobody asked for is kept out of version control, and never one that a
// link leads to: the working directory may be anybody's.
func ownDir(dir string, unasked bool) error {
	switch info, err := os.Lstat(dir); {
	case errors.Is(err, os.ErrNotExist):
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if unasked {
			return os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*\n"), 0o600)
		}
		return nil
	case err != nil:
		return err
	case unasked && !info.IsDir():
		return fmt.Errorf("%s is no directory", dir)
	}
	return nil
}
