package view

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/supervise"
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
	// CanRetry says that its failed tasks can be run again from here.
	CanRetry bool `json:"can_retry,omitempty"`
	// Error says why nothing is known of it.
	Error string `json:"error,omitempty"`
}

// mostBatches is how many are looked at.
const mostBatches = 50

// Batches returns how batches stand.
func (s *Source) Batches(ctx context.Context, _ url.Values) (v Batches, err error) {
	list, err := s.Registry().List()
	if err != nil {
		return v, err
	}
	v = Batches{Batches: []Batch{}}
	for _, e := range list[:min(len(list), mostBatches)] {
		if ctx.Err() != nil {
			return v, ctx.Err()
		}
		v.Batches = append(v.Batches, s.batch(e))
	}
	return v, nil
}

// batch says how one stands.
func (s *Source) batch(e batch.Entry) Batch {
	b := Batch{Entry: e, Name: filepath.Base(e.Results)}
	var err error
	if b.Status, err = s.batches.read(e.Results); err != nil {
		b.Error = err.Error()
	} else {
		b.Now = b.Status.Progress.Tasks
		b.CanRetry = s.canRetry(e, b.Status) == nil
	}
	b.Again = nil // which is said by Retry
	return b
}

// entry is the batch with these results; [os.ErrNotExist] if none was noted.
func (s *Source) entry(results string) (batch.Entry, error) {
	list, err := s.Registry().List()
	if err != nil {
		return batch.Entry{}, err
	}
	i := slices.IndexFunc(list, func(e batch.Entry) bool { return e.Results == results })
	if i < 0 {
		return batch.Entry{}, message.Error("no such batch, or its results are gone", os.ErrNotExist)
	}
	return list[i], nil
}

// Registry is where batches are found.
func (s *Source) Registry() batch.Registry { return batch.Registry{Dir: s.State.BatchDir()} }

// BatchWatch notices when batches change, by a look at their files: none of them is read.
type BatchWatch struct {
	source  *Source
	listed  string // how the registry stood when results were taken from it
	results []string
}

// WatchBatches begins to watch.
func (s *Source) WatchBatches() *BatchWatch { return &BatchWatch{source: s} }

// Stamp is another one when a batch has changed.
func (w *BatchWatch) Stamp() string {
	registry := w.source.Registry()
	if listed := Stamp(registry.Dir); listed != w.listed {
		w.listed, w.results = listed, nil
		list, _ := registry.List() // what cannot be read is not shown either
		for _, e := range list[:min(len(list), mostBatches)] {
			w.results = append(w.results, e.Results)
		}
	}
	text := w.listed + w.source.batches.renewals()
	for _, results := range w.results {
		text += stampBatch(results)
	}
	return text
}

// stampBatch is what changes when the batch of these results does. One that is killed changes no file, but loses its lock.
func stampBatch(results string) string {
	journal := batch.Journal(results)
	text := Stamp(results, journal)
	if _, err := os.Lstat(journal); err == nil && batch.IsRunning(results) {
		text += "running "
	}
	return text
}

// Stamp is what changes when files do.
func Stamp(paths ...string) string {
	text := ""
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			text += fmt.Sprintf("%d.%d ", info.ModTime().UnixNano(), info.Size())
		} else {
			text += "- "
		}
	}
	return text
}

// statuses remembers how batches stood: a file of results may be long. One that has not changed is not read again, and one that changes all the
// time is read for a twentieth of the time at most.
type statuses struct {
	mu      sync.Mutex
	known   map[string]knownStatus
	due     time.Time // when a status is to be read that is older than its files; zero if none is
	renewed int       // how often that time has come
}

type knownStatus struct {
	stamp  string
	next   time.Time // when it may be read again
	status *batch.Status
}

const (
	// quick is how long it takes to read results that are read whenever they change.
	quick = 20 * time.Millisecond
	// leisure is how much longer others are left alone than it took to read them.
	leisure = 19
)

func (s *statuses) read(path string) (*batch.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	begun, stamp := time.Now(), stampBatch(path)
	k, ok := s.known[path]
	if ok && k.stamp == stamp {
		return k.status, nil
	}
	if ok && begun.Before(k.next) {
		if s.due.IsZero() || k.next.Before(s.due) {
			s.due = k.next
		}
		return k.status, nil
	}
	status, err := batch.ReadStatus(path)
	if err != nil {
		return nil, err
	}
	if s.known == nil {
		s.known = map[string]knownStatus{}
	}
	k = knownStatus{stamp: stamp, status: status}
	if now := time.Now(); now.Sub(begun) > quick {
		k.next = now.Add(leisure * now.Sub(begun))
	}
	s.known[path] = k
	return status, nil
}

// renewals is another text when a status can be read that had to wait.
func (s *statuses) renewals() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.due.IsZero() && !time.Now().Before(s.due) {
		s.due, s.renewed = time.Time{}, s.renewed+1
	}
	return fmt.Sprintf("%d ", s.renewed)
}

// launchLimit is how long a batch may take until it is under way: its tasks are read before, and there may be a million.
const launchLimit = time.Minute

// RetryBatch runs the failed tasks of the batch with these results again, by the command on record, and returns what to say of it. The batch goes on
// by itself, whatever becomes of us.
func (s *Source) RetryBatch(results string) (string, error) {
	e, err := s.entry(results)
	if err != nil {
		return "", err
	}
	status, err := batch.ReadStatus(e.Results)
	if err != nil {
		return "", err
	}
	if err := s.canRetry(e, status); err != nil {
		return "", err
	}
	name := filepath.Base(e.Results)
	got, err := supervise.Launch(launchLimit, e.Dir, s.Belay, append([]string{s.Belay, "batch", "--detach"}, e.Again...))
	switch {
	case err != nil:
		return "", message.Error(message.BatchRetryFailed(name, err.Error()), err)
	case got.Code != 0:
		return "", message.Error(message.BatchRetryFailed(name, firstLine(got.Stderr)))
	}
	id := firstLine(got.Stdout)
	return fmt.Sprintf("running %s of %s again, as detached run %s", message.Count(status.Failed, "failed task"), name, id[max(0, len(id)-8):]), nil
}

// canRetry says why the failed tasks of a batch cannot be run again from here; nil if they can.
func (s *Source) canRetry(e batch.Entry, status *batch.Status) error {
	info, err := os.Stat(e.Dir)
	switch {
	case status.Holder != nil:
		return message.Error("this batch is still running. Its failed tasks can be run again when it has ended")
	case status.Failed == 0:
		return message.Error("no task of this batch has failed")
	case len(e.Again) == 0 || s.Belay == "":
		return message.Error("the command of this batch is not on record. Run it in a terminal, with --retry-failed")
	case err != nil || !info.IsDir():
		return message.Error(fmt.Sprintf("%s, where this batch was run, is gone", e.Dir))
	}
	return nil
}

// firstLine is the first line that a command has printed, without the name that belay puts before its messages.
func firstLine(text []byte) string {
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(printable.Line(strings.TrimSpace(line))); line != "" {
			return strings.TrimPrefix(line, "belay: ")
		}
	}
	return ""
}
