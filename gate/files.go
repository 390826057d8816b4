package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Files is a Store for all processes of a user on one machine: a small file for each key, and none while all is well.
//
// A file is read without a lock and replaced by renaming, so that a reader sees the old state or the new one, and a
// crash at any point leaves one of them. Who changes it holds a lock on another file, which is never deleted: a lock
// on the file that is itself replaced loses updates (2,800 of 3,200 when that was tried).
type Files struct {
	Dir string
}

// ErrDamaged says that the file of a key could not be read as a state. It has been set aside, and the key is healthy.
var ErrDamaged = errors.New("damaged gate file")

// maxFile bounds what is read: no state is that large.
const maxFile = 64 << 10

// content is what is in a file. The key is there because the file's name may be a digest of it.
type content struct {
	Version int    `json:"v"`
	Key     string `json:"key"`
	State   State  `json:"state"`
}

// Load implements Store.
func (f *Files) Load(key string) (State, error) {
	path := f.path(key)
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return State{}, nil
	}
	if err != nil {
		return State{}, err
	}
	defer file.Close()
	c, err := read(file)
	if err != nil {
		return State{}, f.setAside(path, err)
	}
	return c.State, nil
}

// read reads a whole file and nothing else.
func read(file *os.File) (content, error) {
	if err := ours(file); err != nil {
		return content{}, err
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return content{}, err
	}
	var c content
	if err := json.Unmarshal(data, &c); err != nil {
		return content{}, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	if c.Version != 1 || c.Key == "" {
		return content{}, fmt.Errorf("%w: not of this version", ErrDamaged)
	}
	return c, nil
}

// setAside moves a damaged file out of the way, for whoever wants to know. Other errors are passed on.
func (f *Files) setAside(path string, err error) error {
	if !errors.Is(err, ErrDamaged) {
		return err
	}
	aside := path + ".damaged"
	if merr := os.Rename(path, aside); merr != nil && !errors.Is(merr, os.ErrNotExist) {
		return fmt.Errorf("%w; it could not be moved away: %v", err, merr)
	}
	return fmt.Errorf("%w; it is now %s", err, aside)
}

// Update implements Store.
func (f *Files) Update(key string, now time.Time, change func(State) State) error {
	path := f.path(key)
	unlock, err := f.lock(path + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	before, err := f.Load(key)
	if err != nil && !errors.Is(err, ErrDamaged) {
		return err
	}
	after := change(before)
	if after.Healthy(now) {
		if rerr := os.Remove(path); rerr != nil && !errors.Is(rerr, os.ErrNotExist) {
			return rerr
		}
		return err
	}
	return errors.Join(err, replace(path, content{Version: 1, Key: key, State: after}))
}

// replace writes a file as a whole or not at all.
func replace(path string, c content) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	// The name is the same for all: only who holds the lock writes it, and a killed writer leaves at most this one.
	tmp := path + ".new"
	if err := os.WriteFile(tmp, append(data, '\n'), 0o600); err != nil {
		os.Remove(tmp)
		return err
	}
	return os.Rename(tmp, path)
}

// lockPatience is how long an update waits for another. It takes a fraction of a millisecond, so whoever holds the
// lock for so long has been stopped.
const lockPatience = 2 * time.Second

// lock waits for the lock of a key. The directory is made when it is missing.
func (f *Files) lock(path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		if err = os.MkdirAll(f.Dir, 0o700); err == nil {
			file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		}
	}
	if err != nil {
		return nil, err
	}
	for deadline, pause := time.Now().Add(lockPatience), 50*time.Microsecond; ; pause = min(2*pause, 10*time.Millisecond) {
		switch held, err := tryLock(file); {
		case held, errors.Is(err, errors.ErrUnsupported):
			// A file system without locks: two updates at the same time may then lose one of them.
			return func() { file.Close() }, nil
		case err != nil:
			file.Close()
			return nil, fmt.Errorf("%s cannot be locked: %w", path, err)
		case time.Now().After(deadline):
			file.Close()
			return nil, fmt.Errorf("%s has been locked by another process for %v", path, lockPatience)
		}
		time.Sleep(pause)
	}
}

// List implements Store.
func (f *Files) List() ([]Entry, error) {
	names, err := filepath.Glob(filepath.Join(f.Dir, "*.json"))
	if err != nil {
		return nil, err
	}
	states := map[string]State{}
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			continue // it has just become healthy
		}
		if c, err := read(file); err == nil {
			states[c.Key] = c.State
		}
		file.Close()
	}
	return sorted(states), nil
}

// path is the file of a key. A key that is a plain word is its own name.
func (f *Files) path(key string) string { return filepath.Join(f.Dir, fileName(key)+".json") }

func fileName(key string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.'
	}
	name := strings.Map(func(r rune) rune {
		if plain(r) {
			return r
		}
		return '_'
	}, key)
	if name == key && len(key) <= 64 && key[0] != '.' {
		return name
	}
	h := fnv.New64a()
	io.WriteString(h, key)
	return fmt.Sprintf("%.40s~%016x", strings.TrimLeft(name, "."), h.Sum64())
}
