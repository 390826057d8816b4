package jobs

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/companion/fleet/files"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
)

// archiveCache keeps archives on a worker's disk, encrypted as they are in PostgreSQL, so that a batch whose jobs all work on the same files is fetched once.
type archiveCache struct {
	dir string

	mu    sync.Mutex
	items map[string]*shelved
}

type shelved struct {
	mu      sync.Mutex // while it is fetched
	there   bool
	used    time.Time
	readers int
}

// archiveTime is how long an archive stays on disk after its last use.
const archiveTime = 10 * time.Minute

// clear removes all archives: those of an earlier process, and at the end our own.
func (s *archiveCache) clear() { os.RemoveAll(s.dir) }

// read returns an archive, and calls fetch if it is not on disk.
func (s *archiveCache) read(name string, fetch func() ([]byte, error)) ([]byte, error) {
	s.mu.Lock()
	if s.items == nil {
		s.items = map[string]*shelved{}
	}
	item := s.items[name]
	if item == nil {
		item = &shelved{}
		s.items[name] = item
	}
	item.readers++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		item.readers--
		item.used = time.Now()
		s.mu.Unlock()
	}()
	item.mu.Lock()
	defer item.mu.Unlock()
	path := filepath.Join(s.dir, name)
	if item.there {
		if data, err := safefile.ReadOwn(path, files.MaxPacked+1<<10); err == nil {
			return data, nil
		}
	}
	data, err := fetch()
	if err == nil && safefile.MakeOwnDir(s.dir) == nil {
		item.there = safefile.WriteOwn(path, data) == nil
	}
	return data, err
}

// forget removes archives that no job has asked for in a while.
func (s *archiveCache) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, item := range s.items {
		if item.readers == 0 && time.Since(item.used) > archiveTime {
			os.Remove(filepath.Join(s.dir, name))
			delete(s.items, name)
		}
	}
}

// unpack makes the directory to, with the files of a job.
func (w *Worker) unpack(ctx context.Context, a *attempt, name, to string) error {
	sealed, err := w.archives.read(a.batch+"."+name, func() ([]byte, error) { return w.fetchArchive(ctx, a.batch, name) })
	if err != nil {
		return err
	}
	packed, err := a.key.open(sealed, a.batch, archiveAs, name)
	if err != nil {
		return err
	}
	if a.key.name(packed) != name {
		return message.Error(message.FilesNoArchive())
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	return files.Unpack(ctx, bytes.NewReader(packed), to)
}
