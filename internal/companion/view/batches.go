package view

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/batch"
)

// Batches are those whose results are there, the last that was started first.
type Batches struct {
	Batches []Batch `json:"batches"`
}

// Batch is how a batch stands.
type Batch struct {
	batch.Entry
	Name string `json:"name"` // of its results
	*batch.Status
	// Now is what its tasks do.
	Now []batch.Now `json:"tasks_now"`
	// Error says why nothing is known of it.
	Error string `json:"error,omitempty"`
}

// mostBatches is how many are looked at.
const mostBatches = 50

// Batches returns how batches stand.
func (s *Source) Batches(ctx context.Context, _ url.Values) (any, error) {
	list, err := s.Registry().List()
	if err != nil {
		return nil, err
	}
	v := Batches{Batches: []Batch{}}
	for _, e := range list[:min(len(list), mostBatches)] {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		b := Batch{Entry: e, Name: filepath.Base(e.Results)}
		if b.Status, err = s.batches.read(e.Results); err != nil {
			b.Error = err.Error()
		} else {
			b.Now = b.Status.Progress.Tasks
		}
		v.Batches = append(v.Batches, b)
	}
	return v, nil
}

// Registry is where batches are found.
func (s *Source) Registry() batch.Registry { return batch.Registry{Dir: s.State.BatchDir()} }

// statuses remembers how batches stood that have not changed since: a file of results may be long.
type statuses struct {
	mu    sync.Mutex
	known map[string]knownStatus
}

type knownStatus struct {
	size   int64
	at     time.Time
	status *batch.Status
}

func (s *statuses) read(path string) (*batch.Status, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if k, ok := s.known[path]; ok && k.size == info.Size() && k.at.Equal(info.ModTime()) && k.status.Holder == nil {
		return k.status, nil
	}
	status, err := batch.ReadStatus(path)
	if err != nil {
		return nil, err
	}
	if s.known == nil {
		s.known = map[string]knownStatus{}
	}
	s.known[path] = knownStatus{info.Size(), info.ModTime(), status}
	return status, nil
}
