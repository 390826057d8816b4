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
	// Owner is the file of tasks for which the results were begun, absolute; empty if an earlier version has begun them.
	Owner string `json:"owner,omitempty"`
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

// DefaultResults is where the results of a file of tasks go by default: to a file in the current directory with its name, without the extension unless
// another file of tasks has its results there, or with the name of its directory too. displaced is the first of them, if it is another's, and the path is empty
// if all of them are.
func (r Registry) DefaultResults(tasks string) (path, displaced string) {
	const suffix = ".results.jsonl"
	base := filepath.Base(tasks)
	names := []string{strings.TrimSuffix(base, filepath.Ext(base)) + suffix, base + suffix}
	absolute, err := filepath.Abs(tasks)
	if err == nil {
		names = append(names, filepath.Base(filepath.Dir(absolute))+"-"+base+suffix)
	}
	free := ""
	for _, name := range names {
		switch owner := r.owner(name); {
		case owner != "" && owner == absolute:
			return name, displaced
		case owner != "" && !sameFile(owner, tasks) && exists(owner): // else the tasks have another name now
			if displaced == "" {
				displaced = name
			}
		case free == "":
			free = name
		}
	}
	if free == names[0] {
		displaced = ""
	}
	return free, displaced
}

// owner is the file of tasks for which the results at a path were begun; empty if they are not there, or that is not known.
func (r Registry) owner(results string) string {
	path, err := filepath.Abs(results)
	if err != nil || !exists(path) {
		return ""
	}
	e, _ := readEntry(r.path(path))
	return e.Owner
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Note remembers a batch whose results the caller holds, with the owner that they had before unless it names one. Of all that are remembered, those that were started last are kept.
func (r Registry) Note(e Entry) error {
	path := r.path(e.Results)
	if e.Owner == "" {
		was, _ := readEntry(path)
		e.Owner = was.Owner
	}
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := safefile.MakeOwnDir(r.Dir); err != nil {
		return err
	}
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
