package batch

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/safefile"
)

// Registry remembers which batches there are, so that they can be found without knowing where their results are. It is a directory with a file for each.
type Registry struct{ Dir string }

// Entry is a batch that was started.
type Entry struct {
	Results string    `json:"results"` // absolute
	Tasks   string    `json:"tasks"`
	Dir     string    `json:"dir"`
	Started time.Time `json:"started"` // last
	// Retry is the command that runs the failed tasks again, for a shell in Dir; empty if it has a secret in it.
	Retry string `json:"retry,omitempty"`
	// Again are the arguments of that command, after belay batch; none if it has a secret in it, or was noted by a belay that did not keep them.
	Again []string `json:"again,omitempty"`
}

// path is the file for the results of a batch.
func (r Registry) path(results string) string {
	h := fnv.New64a()
	io.WriteString(h, results)
	return filepath.Join(r.Dir, fmt.Sprintf("%016x.json", h.Sum64()))
}

// Note remembers a batch whose results the caller holds. Of all that are remembered, those that were started last are kept.
func (r Registry) Note(e Entry) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := safefile.MakeOwnDir(r.Dir); err != nil {
		return err
	}
	path := r.path(e.Results)
	if err := atomicfile.WriteVia(path+".new", path, append(data, '\n')); err != nil { // only the batch that holds the results notes them
		return err
	}
	return r.trim()
}

// mostNoted is how many batches are remembered.
const mostNoted = 200

// trim forgets the batches that were started longest ago, if there are too many.
func (r Registry) trim() error {
	names, err := safefile.ReadOwnDir(r.Dir)
	if err != nil || len(names) <= mostNoted {
		return err
	}
	type noted struct {
		path string
		at   time.Time
	}
	var list []noted
	for _, name := range names {
		path := filepath.Join(r.Dir, name)
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			list = append(list, noted{path, info.ModTime()})
		}
	}
	slices.SortFunc(list, func(a, b noted) int { return b.at.Compare(a.at) })
	for _, old := range list[min(len(list), mostNoted):] {
		if _, ok := readEntry(old.path); ok {
			err = errors.Join(err, os.Remove(old.path))
		}
	}
	return err
}

// maxEntry bounds the file of a batch.
const maxEntry = 1 << 20

// readEntry reads the file of a batch.
func readEntry(path string) (e Entry, ok bool) {
	data, err := safefile.ReadOwn(path, maxEntry)
	return e, err == nil && json.Unmarshal(data, &e) == nil && e.Results != "" && !e.Started.IsZero()
}

// List returns the batches whose results are there, the last that was started first. The others are forgotten.
func (r Registry) List() ([]Entry, error) {
	names, err := safefile.ReadOwnDir(r.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Entry
	for _, name := range names {
		if !strings.HasSuffix(name, ".json") {
			continue
		}
		path := filepath.Join(r.Dir, name)
		e, ok := readEntry(path)
		if !ok {
			continue // half written, or by another version
		}
		if _, err := os.Stat(e.Results); errors.Is(err, os.ErrNotExist) {
			os.Remove(path)
			continue
		}
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b Entry) int { return b.Started.Compare(a.Started) })
	return list, nil
}
