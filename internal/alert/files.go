package alert

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/flock"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/safefile"
)

// Files keeps the states of all integrations in a directory: a small file each, replaced by renaming under a lock on
// another file, which is never deleted. A crash at any point leaves the old state or the new one.
type Files struct {
	Dir string
}

// lockTimeout is how long a failure waits to be counted. An update takes a fraction of a millisecond: a process that holds
// the lock for longer has been stopped.
const lockTimeout = time.Second

// ErrLocked says that a failure was not counted because others held the lock all the time.
var ErrLocked = errors.New("could not be locked")

// maxFile bounds what is read of a file; a state of the maximum of a thousand failures takes a twentieth of it.
const maxFile = 1 << 20

// content is what is in a file.
type content struct {
	Version     int    `json:"v"`
	Integration string `json:"integration"`
	State       State  `json:"state"`
}

// Failed counts a failure of an integration. The alert is nil unless this one raises it.
func (f Files) Failed(integration string, set Settings, now time.Time) (*Raised, error) {
	if set.Off() {
		return nil, nil
	}
	integration = redact.Text(integration) // the name of a command or a hook, which its caller has chosen
	path := f.path(integration)
	lock, err := f.lock(path + ".lock")
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	before, damaged := read(path)
	after, raised := before.Failed(set, now)
	if err := replace(path, content{1, strings.ToValidUTF8(integration, "\uFFFD"), after}); err != nil {
		if refused, ok := errors.AsType[*safefile.Error](damaged); ok {
			return nil, fmt.Errorf("%w; failures are not counted", refused) // it is why the file cannot be replaced
		}
		return nil, errors.Join(damaged, err)
	}
	if !raised {
		return nil, damaged
	}
	return &Raised{Integration: integration, Failures: len(after.Times), Within: set.within(), At: now}, damaged
}

// Load reads the state of an integration; the zero State if nothing is known.
func (f Files) Load(integration string) (State, error) {
	state, err := read(f.path(redact.Text(integration)))
	return state, err
}

// read reads a state. One that cannot be read counts as none, and is replaced by the next failure.
func read(path string) (State, error) {
	data, err := safefile.ReadOwn(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	if refused, ok := errors.AsType[*safefile.Error](err); ok {
		return State{}, fmt.Errorf("%w; failures are counted anew", refused)
	}
	if err != nil {
		return State{}, err
	}
	var c content
	err = json.Unmarshal(data, &c)
	if err == nil && c.Version != 1 {
		err = fmt.Errorf("version %d is not known", c.Version)
	}
	if err != nil {
		return State{}, fmt.Errorf("%s is damaged (%w); failures are counted anew", path, err)
	}
	return c.State, nil
}

// lock waits for the lock of an integration. On a file system without locks it has none: a failure may be lost then, but
// nothing breaks.
func (f Files) lock(path string) (*os.File, error) {
	file, err := flock.OpenAll(path)
	if err != nil {
		return nil, err
	}
	err = flock.Wait(func() (bool, error) { return flock.Try(file, flock.Exclusive) }, func(waited time.Duration) error {
		if waited > lockTimeout {
			return fmt.Errorf("%s: %w within %v", path, ErrLocked, lockTimeout)
		}
		return nil
	})
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		file.Close()
		return nil, err
	}
	return file, nil
}

// replace writes a file as a whole or not at all.
func replace(path string, c content) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return atomicfile.WriteVia(path+".new", path, append(data, '\n')) // only the holder of the lock writes it
}

// path is the file of an integration. A plain word is its own name, any other has a digest.
func (f Files) path(integration string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, integration)
	if name != integration || name == "" || len(name) > 64 {
		h := fnv.New64a()
		io.WriteString(h, integration)
		name = fmt.Sprintf("%.40s~%016x", name, h.Sum64())
	}
	return filepath.Join(f.Dir, name+".json")
}
