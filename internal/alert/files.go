package alert

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/sharedfile"
)

// Files keeps the states of all integrations in a directory: a small file each, which processes share.
type Files struct {
	Dir string
}

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
	file := f.file(integration)
	lock, err := file.Lock()
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	before, damaged := read(file)
	after, raised := before.Failed(set, now)
	data, err := json.Marshal(content{1, strings.ToValidUTF8(integration, "\uFFFD"), after})
	if err == nil {
		err = lock.Replace(append(data, '\n'))
	}
	if err != nil {
		return nil, fmt.Errorf("%w; failures are not counted", errors.Join(damaged, err))
	}
	if damaged != nil {
		damaged = fmt.Errorf("%w; failures are counted anew", damaged)
	}
	if !raised {
		return nil, damaged
	}
	return &Raised{Integration: integration, Failures: len(after.Times), Within: set.within(), At: now}, damaged
}

// Load reads the state of an integration; the zero State if nothing is known.
func (f Files) Load(integration string) (State, error) { return read(f.file(redact.Text(integration))) }

// read reads a state. One that cannot be read counts as none, and is replaced by the next failure.
func read(file sharedfile.File) (State, error) {
	var c content
	data, _, err := file.Read(maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err == nil && c.Version != 1 {
		err = fmt.Errorf("version %d is not known", c.Version)
	}
	if err != nil {
		return State{}, fmt.Errorf("%s is damaged (%w)", file.Path, err)
	}
	return c.State, nil
}

// file is the file of an integration. A plain word is its own name, any other has a digest.
func (f Files) file(integration string) sharedfile.File {
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
	return sharedfile.File{Path: filepath.Join(f.Dir, name+".json")}
}
