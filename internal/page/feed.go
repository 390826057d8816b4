package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/page/view"
)

const (
	// lookEvery is how often the state directory is looked at while a page is open.
	lookEvery = 250 * time.Millisecond
	// nowEvery is how often Now is made at least: gates open without a file being written.
	nowEvery = 2 * time.Second
	// batchesEvery is how often the files of batches are looked at.
	batchesEvery = 500 * time.Millisecond
	// behind is how many events may wait for a page.
	behind = 32
)

// feed tells pages what has changed. It looks at the state directory only while a page is open, once for all of them.
type feed struct {
	source *view.Source
	poked  chan struct{}

	mu      sync.Mutex
	readers map[chan event]bool
	cancel  context.CancelFunc // ends the loop; nil if none runs
	version int64              // of the record and of batches
	now     []byte             // the last one that was told
	folding []byte
}

// hello is the first event of a stream.
type hello struct {
	Version  int64 `json:"version"`
	ReadOnly bool  `json:"read_only"`
}

// progress is how much of the log is in the record, in bytes.
type progress struct {
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
	Error string `json:"error,omitempty"`
}

func newFeed(s *view.Source) *feed {
	return &feed{source: s, poked: make(chan struct{}, 1), readers: map[chan event]bool{}, version: time.Now().UnixMilli()}
}

// current is the version of what views are made of.
func (f *feed) current() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.version
}

// open reports whether a page is open.
func (f *feed) open() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.readers) > 0
}

// poke has the state directory looked at now.
func (f *feed) poke() {
	select {
	case f.poked <- struct{}{}:
	default:
	}
}

// stop ends the loop.
func (f *feed) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cancel != nil {
		f.cancel()
	}
}

// join adds a page. The first one has the state directory looked at.
func (f *feed) join() chan event {
	c := make(chan event, behind)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readers[c] = true
	if f.now != nil {
		c <- event{"now", f.now}
	}
	if f.folding != nil {
		c <- event{"fold", f.folding}
	}
	if f.cancel == nil {
		ctx, cancel := context.WithCancel(context.Background())
		f.cancel = cancel
		go f.loop(ctx)
	}
	return c
}

// leave takes a page away. With the last one, the looking ends.
func (f *feed) leave(c chan event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.readers[c] {
		delete(f.readers, c)
		close(c)
	}
	if len(f.readers) == 0 && f.cancel != nil {
		f.cancel()
		f.cancel, f.now = nil, nil
	}
}

// tell gives an event to all pages. One that is too far behind is dropped; it will come back and begin anew.
func (f *feed) tell(e event) {
	for c := range f.readers {
		select {
		case c <- e:
		default:
			delete(f.readers, c)
			close(c)
		}
	}
}

// loop looks at the state directory until the last page has left.
func (f *feed) loop(ctx context.Context) {
	var logSeen, stateSeen, batchesSeen string
	var told, looked time.Time
	watch := f.source.WatchBatches()
	folded := make(chan error, 1)
	folding, first := false, true
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if log := f.stampLog(); !folding && log != logSeen {
			logSeen, folding = log, true
			go func() { folded <- f.source.Fold(ctx) }()
		}
		if state := f.stampState(); state != stateSeen || time.Since(told) >= nowEvery {
			stateSeen, told = state, time.Now()
			f.tellNow(ctx)
		}
		if time.Since(looked) >= batchesEvery {
			looked = time.Now()
			if batches := watch.Stamp(); batches != batchesSeen {
				batchesSeen = batches
				f.tellChange(ctx, "batches")
			}
		}
		if folding && !first {
			f.tellFolding(ctx, nil)
		}
		first = false
		select {
		case <-ctx.Done():
			if folding {
				<-folded
			}
			return
		case err := <-folded:
			folding = false
			f.tellFolding(ctx, err)
			f.tellChange(ctx, "record") // there is more on it
		case <-f.poked:
			stateSeen, looked = "", time.Time{}
		case <-tick.C:
		}
	}
}

// tellNow tells how things stand, if that has changed.
func (f *feed) tellNow(ctx context.Context) {
	data, err := json.Marshal(f.source.Now())
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() == nil && !bytes.Equal(data, f.now) {
		f.now = data
		f.tell(event{"now", data})
	}
}

// tellFolding tells how far the log has been folded.
func (f *feed) tellFolding(ctx context.Context, trouble error) {
	p := progress{}
	p.Done, p.Total = f.source.Progress(ctx)
	if trouble != nil {
		p.Error = trouble.Error()
	}
	data, _ := json.Marshal(p) // it is numbers and a text
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() == nil && !bytes.Equal(data, f.folding) {
		f.folding = data
		f.tell(event{"fold", data})
		if trouble == nil && p.Done < p.Total { // what is there can be looked at
			f.version++
		}
	}
}

// tellChange tells that what pages have asked for is old.
func (f *feed) tellChange(ctx context.Context, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() == nil {
		f.version++
		f.tell(event{name, fmt.Appendf(nil, `{"version":%d}`, f.version)})
	}
}

// stampLog is what changes when the log does.
func (f *feed) stampLog() string {
	if f.source.Fleet != nil {
		return f.source.Fleet.Stamp()
	}
	return view.Stamp(f.source.State.LogPath())
}

// stampState is what changes when runs, gates, budgets or outputs do: files there are replaced, which changes the directory.
func (f *feed) stampState() string {
	s := f.source.State
	return view.Stamp(s.Records().Dir, s.Gates().Dir, s.Budgets().Dir, s.Spools().Dir, filepath.Dir(s.LogPath()))
}

// serve streams events to a page until it leaves, or is too slow.
func (f *feed) serve(w http.ResponseWriter, r *http.Request, first hello) {
	stream := newEvents(w)
	defer stream.close()
	data, _ := json.Marshal(first) // it is a number and a bool
	c := f.join()
	defer f.leave(c)
	if stream.send(event{"hello", data}) {
		follow(stream, r.Context().Done(), c, func(e event) event { return e })
	}
}
