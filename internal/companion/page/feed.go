package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/companion/view"
)

const (
	// lookEvery is how often the state directory is looked at while a page is open.
	lookEvery = 250 * time.Millisecond
	// nowEvery is how often Now is made at least: gates open without a file being written.
	nowEvery = 2 * time.Second
	// pulse is how often a stream has something to read, so that both ends notice when the other is gone.
	pulse = 20 * time.Second
	// slow is how long a page may take to read an event.
	slow = 10 * time.Second
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
	version int64              // of the record
	now     []byte             // the last one that was told
	folding []byte
}

// event is one that is told to pages.
type event struct {
	name string
	data []byte
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

// current is the version of the record that views are made of.
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
	var logSeen, stateSeen string
	var told time.Time
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
			f.tellRecord(ctx, err)
		case <-f.poked:
			stateSeen = ""
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

// tellRecord tells that there is more on record.
func (f *feed) tellRecord(ctx context.Context, trouble error) {
	f.tellFolding(ctx, trouble)
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() == nil {
		f.version++
		f.tell(event{"record", fmt.Appendf(nil, `{"version":%d}`, f.version)})
	}
}

// stampLog is what changes when the log does.
func (f *feed) stampLog() string { return stamp(f.source.State.LogPath()) }

// stampState is what changes when runs, gates, budgets or outputs do: files there are replaced, which changes the directory.
func (f *feed) stampState() string {
	s := f.source.State
	return stamp(s.Records().Dir, s.BatchDir(), s.Gates().Dir, s.Budgets().Dir, s.Spools().Dir, filepath.Dir(s.LogPath()))
}

func stamp(paths ...string) string {
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

// serve streams events to a page until it leaves, or is too slow.
func (f *feed) serve(w http.ResponseWriter, r *http.Request, first hello) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	send := func(e event) bool {
		out.SetWriteDeadline(time.Now().Add(slow))
		_, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.name, e.data)
		return err == nil && out.Flush() == nil
	}
	data, _ := json.Marshal(first) // it is a number and a bool
	c := f.join()
	defer f.leave(c)
	if !send(event{"hello", data}) {
		return
	}
	alive := time.NewTicker(pulse)
	defer alive.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case e, ok := <-c:
			if !ok || !send(e) {
				return
			}
		case <-alive.C:
			if !send(event{"pulse", []byte("{}")}) {
				return
			}
		}
	}
}
