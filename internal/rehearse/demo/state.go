package demo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/state"
)

// makeState makes a state directory for the demo beside the user's own, so that its record can be looked at afterwards.
func makeState() (string, error) {
	base, err := state.DefaultDir()
	if err == nil {
		_, err = state.Open(base)
	}
	dir := filepath.Join(base, "demo")
	if err == nil {
		err = remove(dir)
	}
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = safefile.WriteOwn(filepath.Join(dir, mark), nil)
	}
	if err != nil {
		return "", message.Error(fmt.Sprintf("cannot record the demo: %v. To use another directory: BELAY_STATE_DIR=/some/where belay demo", err), err)
	}
	return dir, nil
}

// mark is a file in the directory of a demo, by which a later one knows that it may be removed.
const mark = ".belay-demo"

// remove removes the directory of an earlier demo. A directory of that name which no demo has made is left as it is. Those of earlier
// versions have no mark, but a log, and nothing that a state directory does not have.
func remove(dir string) error {
	names, err := safefile.ReadOwnDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(names) == 0 {
		return nil
	}
	if err == nil && !slices.Contains(names, mark) && (!slices.Contains(names, "log.jsonl") || !slices.Contains(names, "gates")) {
		err = message.Error(message.NotMadeByBelay(dir))
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(dir)
}
