package gatefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

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

// RestartTime is how long the slots of a machine stay as they were leased after its member was last in touch with the fleet: a member that restarts, or is started again after it was
// killed, finds them so.
const RestartTime = 15 * time.Second

// Elsewhere is what stands in the file of a slot that is not leased to this machine, in place of the name of a holder.
const Elsewhere = "not leased to this machine"

// Member reports whether the member of a fleet is running. Where there has never been one, that costs an open that fails.
func Member(dir string) bool { return member(dir, func(fs.FileInfo) bool { return false }) }

// Leased reports whether slots are leased by the member of a fleet, which is running or was until a moment ago.
func Leased(dir string) bool {
	return member(dir, func(lock fs.FileInfo) bool { return time.Since(lock.ModTime()).Abs() < RestartTime })
}

// member reports whether a member has the lock, or what else says so of the file.
func member(dir string, or func(lock fs.FileInfo) bool) bool {
	f, err := safefile.OpenOwn(Lock(dir), os.O_RDWR)
	if err != nil {
		return false
	}
	defer f.Close()
	if free, err := flock.Try(f, flock.Shared); err != nil || !free {
		return err == nil
	}
	info, err := f.Stat()
	return err == nil && or(info)
}

// InTouch notes that the member of a fleet was in touch with it at a time; the zero time says that it has left for good.
func InTouch(dir string, at time.Time) {
	if at.IsZero() {
		at = time.Unix(0, 0)
	}
	os.Chtimes(Lock(dir), at, at)
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
