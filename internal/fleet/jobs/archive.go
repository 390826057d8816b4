package jobs

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belay-run/belay/internal/fleet/files"
	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
)

// archivePart is how much of an archive is in a row.
const archivePart = 1 << 20

// errPackage says that an archive which was packed here cannot be read back.
var errPackage = errors.New("an archive is lost")

// archiveAs stands in for the task when an archive is encrypted.
const archiveAs = "archive"

// name names an archive by its content. Without the key, the name reveals nothing.
func (k *Key) name(data []byte) string {
	if k == nil {
		sum := sha256.Sum256(data)
		return hex.EncodeToString(sum[:])
	}
	h := hmac.New(sha256.New, k.naming)
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// packages are the encrypted archives of a submitter, one after the other in a file without a name. They are kept because a task that is submitted later may need one
// that PostgreSQL has deleted by then.
type packages struct {
	file *os.File // made when the first one is kept
	size int64
	at   map[string]*io.SectionReader
}

// keep packs a directory and keeps the archive. left are the names that [files.Pack] has left out.
func (p *packages) keep(ctx context.Context, c *Client, dir string, except []string) (f *fleetpipe.Files, left []string, err error) {
	packed, left, err := files.Pack(ctx, dir, except)
	if err != nil {
		return nil, nil, err
	}
	name := c.Key.name(packed)
	f = &fleetpipe.Files{Archive: name}
	if p.at[name] != nil {
		return f, left, nil
	}
	sealed, err := c.Key.seal(packed, c.Batch, archiveAs, name)
	if err != nil {
		return nil, nil, err
	}
	if p.file == nil {
		if p.file, err = os.CreateTemp("", "belay-files-"); err != nil {
			return nil, nil, err
		}
		os.Remove(p.file.Name()) // Windows refuses; it is removed at the end
		p.at = map[string]*io.SectionReader{}
	}
	if _, err := p.file.WriteAt(sealed, p.size); err != nil {
		return nil, nil, err
	}
	p.at[name] = io.NewSectionReader(p.file, p.size, int64(len(sealed)))
	p.size += int64(len(sealed))
	return f, left, nil
}

func (p *packages) read(name string) ([]byte, error) {
	one := p.at[name]
	if one == nil {
		return nil, message.Error(message.FilesNoArchive())
	}
	return io.ReadAll(io.NewSectionReader(one, 0, one.Size()))
}

func (p *packages) remove() {
	if p.file != nil {
		p.file.Close()
		os.Remove(p.file.Name())
	}
}

// submitArchives stores the archives of tasks that PostgreSQL does not have yet. Those that it has cannot be deleted until the transaction ends, and from
// then on the jobs refer to them.
func (c *Client) submitArchives(ctx context.Context, tx pgx.Tx, tasks []*fleetpipe.Task) error {
	var names []string
	for _, t := range tasks {
		if f := t.Job.Files; f != nil && f.Archive != "" {
			names = append(names, f.Archive)
		}
	}
	slices.Sort(names) // the same order for all, so that two submitters do not wait for each other
	for _, name := range slices.Compact(names) {
		// The update locks an archive that is there already.
		if _, err := tx.Exec(ctx, "insert into belay.archive (batch, name) values ($1, $2) on conflict (batch, name) do update set created = now()", c.Batch, name); err != nil {
			return err
		}
		var there bool
		if err := tx.QueryRow(ctx, "select exists (select 1 from belay.archive_part where batch = $1 and name = $2)", c.Batch, name).Scan(&there); err != nil {
			return err
		}
		if there {
			continue
		}
		sealed, err := c.packages.read(name)
		if err != nil {
			return message.Error(message.FleetNoFolder(err), err, errPackage)
		}
		n := 0
		for part := range slices.Chunk(sealed, archivePart) {
			if _, err := tx.Exec(ctx, "insert into belay.archive_part (batch, name, n, data) values ($1, $2, $3, $4)", c.Batch, name, n, part); err != nil {
				return err
			}
			n++
		}
	}
	return nil
}

// fetchArchive gets an archive as it is in PostgreSQL.
func (w *Worker) fetchArchive(ctx context.Context, batch, name string) (sealed []byte, err error) {
	for n := 0; ; n++ {
		part, err := w.fetchPatiently(ctx, archivePart, "select data from belay.archive_part where batch = $1 and name = $2 and n = $3", batch, name, n)
		switch {
		case errors.Is(err, pgx.ErrNoRows) && n > 0:
			return sealed, nil
		case errors.Is(err, pgx.ErrNoRows), err == nil && len(sealed)+len(part) > files.MaxPacked+1<<10:
			return nil, message.Error(message.FilesNoArchive())
		case err != nil:
			return nil, err
		}
		sealed = append(sealed, part...)
	}
}

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
