package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/sharedfile"
)

// Files is a Store for all processes of a user on one machine: a small file for each key, and none while all is well.
//
// A file is read without a lock and replaced by renaming, so that a reader sees the old state or the new one, and a
// crash at any point leaves one of them. A writer holds a lock on another file, which is never deleted: a lock
// on the file that is itself replaced loses updates (2,800 of 3,200 when that was tried).
type Files struct {
	Dir string

	last atomic.Pointer[cachedState]
	try  func(*os.File) (bool, error) // takes the place of flock.Try in tests of a file system without locks
}

// cachedState is a state that was read, and the file that it was in. A waiting process polls the file, which mostly has
// not changed: to read and decode it each time would be most of what fifty waiting processes cost.
type cachedState struct {
	key   string
	file  fs.FileInfo
	state State
}

// matches reports whether the file of the key is the one that was read. A file is never changed, only replaced, and may
// then have the inode number and, within the clock's resolution, the time of an earlier one: see minCacheAge.
func (s *cachedState) matches(key string, file fs.FileInfo) bool {
	return s != nil && s.key == key && os.SameFile(s.file, file) && s.file.Size() == file.Size() && s.file.ModTime().Equal(file.ModTime())
}

// minCacheAge is how old a file must be for its state to be cached.
const minCacheAge = time.Second

// ErrDamaged says that the file of a key could not be read as a state: it is broken, unreadable, another user's or no
// file at all. It has been set aside, and the key is healthy.
var ErrDamaged = errors.New("damaged gate file")

// maxFile bounds what is read. The largest state, a slow start with a thousand calls under way, is a tenth of that.
const maxFile = 1 << 20

// content is what is in a file. The key is there because the file's name may be a digest of it.
type content struct {
	Version int    `json:"v"`
	Key     string `json:"key"`
	State   State  `json:"state"`
}

// Load implements Store.
func (f *Files) Load(key string) (State, error) {
	if file, err := os.Lstat(f.path(key)); err == nil {
		if last := f.last.Load(); last.matches(key, file) {
			return last.state.clone(), nil
		}
	} else if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	s, err := f.load(key)
	if !errors.Is(err, ErrDamaged) && !errors.Is(err, fs.ErrPermission) {
		return s, err
	}
	lock, lerr := f.file(key).Lock()
	if lerr != nil {
		return State{}, err
	}
	defer lock.Release()
	return f.loadLocked(key, lock)
}

// loadLocked is load for the holder of the lock, which alone may move a damaged file away: without the lock, another
// process may have replaced it by a good one after it was read.
func (f *Files) loadLocked(key string, lock *sharedfile.Lock) (State, error) {
	s, err := f.load(key)
	if errors.Is(err, fs.ErrPermission) { // not the directory's: there is the lock
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if errors.Is(err, ErrDamaged) {
		err = lock.SetAside(err)
	}
	return s, err
}

func (f *Files) load(key string) (State, error) {
	c, file, err := read(f.file(key))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return State{}, nil
	case err != nil:
		return State{}, err
	case c.Key != keyIn(key):
		return State{}, fmt.Errorf("%w: it is that of another gate", ErrDamaged)
	}
	if time.Since(file.ModTime()) > minCacheAge {
		f.last.Store(&cachedState{key, file, c.State.clone()})
	}
	return c.State, nil
}

// read reads a whole file and nothing else. Not even a pipe makes it wait.
func read(file sharedfile.File) (c content, info fs.FileInfo, err error) {
	data, info, err := file.Read(maxFile)
	if err != nil {
		return c, nil, err
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if c.Version != 1 {
		return c, nil, fmt.Errorf("%w: not of this version", ErrDamaged)
	}
	return c, info, nil
}

// Update implements Store.
func (f *Files) Update(key string, now time.Time, change func(State) State) error {
	lock, err := f.file(key).Lock()
	if err != nil {
		return err
	}
	defer lock.Release()
	before, err := f.loadLocked(key, lock)
	if err != nil && !errors.Is(err, ErrDamaged) {
		return err
	}
	after := change(before.clone())
	switch {
	case after.Healthy(now):
		if rerr := os.Remove(f.path(key)); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			return errors.Join(err, rerr)
		}
		return err
	case after.same(before):
		return err
	}
	return errors.Join(err, replace(lock, content{Version: 1, Key: keyIn(key), State: after}))
}

// List implements Store.
func (f *Files) List() ([]Entry, error) {
	names, err := safefile.ReadOwnDir(f.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	states := map[string]State{}
	for _, name := range names {
		if !strings.HasSuffix(name, ".json") {
			continue
		}
		// One that has just become healthy is gone, and one that is damaged says nothing.
		if c, _, err := read(sharedfile.File{Path: filepath.Join(f.Dir, name), Damaged: ErrDamaged}); err == nil {
			states[c.Key] = c.State
		}
	}
	return sorted(states), nil
}
