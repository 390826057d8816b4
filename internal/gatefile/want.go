package gatefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/flock"
	"github.com/belay-run/belay/internal/safefile"
)

// Slot is the file of a slot.
func Slot(dir, key string, i int) string {
	return filepath.Join(dir, fmt.Sprintf("%s.%d.slot", Name(key), i))
}

// Lock is the file that the member of a fleet holds the lock of for as long as it runs.
func Lock(dir string) string { return filepath.Join(dir, "fleet.lock") }

// Member reports whether the member of a fleet is running. Where there has never been one, that costs an open that fails.
func Member(dir string) bool {
	f, err := safefile.OpenOwn(Lock(dir), os.O_RDWR)
	if err != nil {
		return false
	}
	defer f.Close()
	free, err := flock.Try(f, flock.Shared)
	return err == nil && !free
}

// Want is what a run asks the member of a fleet for.
type Want struct {
	Key string `json:"key"`
	// Slots is how many there are of the key, in all of the fleet.
	Slots int `json:"slots"`
}

const wanted = ".want"

// Ask asks the member for a slot, and reports whether it was not asked before: then it may be worth while to wait for a moment.
func Ask(dir string, w Want) bool {
	path := filepath.Join(dir, Name(w.Key)+wanted)
	if _, err := os.Lstat(path); err == nil {
		return false
	}
	data, err := json.Marshal(w)
	return err == nil && atomicfile.Write(path, "want-*.new", append(data, '\n')) == nil
}

// Wants takes what runs have asked for. Each is returned once.
func Wants(dir string) (list []Want, err error) {
	names, err := safefile.ReadOwnDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, name := range names {
		if !strings.HasSuffix(name, wanted) {
			continue
		}
		path := filepath.Join(dir, name)
		data, err := safefile.ReadOwn(path, 1<<16)
		os.Remove(path)
		var w Want
		if err == nil && json.Unmarshal(data, &w) == nil && w.Slots > 0 {
			list = append(list, w)
		}
	}
	return list, nil
}
