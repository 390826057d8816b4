package top

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// desk is a terminal, what is behind it, and a person in front of it.
type desk struct {
	t        *testing.T
	events   chan term.Event
	mu       sync.Mutex
	screen   string
	looks    int
	did      []Action
	snapshot func() Snapshot
}

func newDesk(t *testing.T) *desk {
	return &desk{t: t, events: make(chan term.Event), snapshot: func() Snapshot {
		s := example()
		s.At = time.Now()
		return s
	}}
}

func (d *desk) Events() <-chan term.Event  { return d.events }
func (d *desk) Size() (columns, lines int) { return 80, 24 }
func (d *desk) Draw(rows []term.Row) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.screen = plain(rows)
	return nil
}

func (d *desk) Snapshot() Snapshot {
	d.mu.Lock()
	d.looks++
	d.mu.Unlock()
	return d.snapshot()
}

// looked is how often it has looked.
func (d *desk) looked() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.looks
}

func (d *desk) Lines(supervise.Record) []journal.Entry { return lines() }
func (d *desk) Do(a Action) string                     { d.did = append(d.did, a); return "it is done" }

// press presses keys one after the other.
func (d *desk) press(keys ...term.Key) {
	for _, k := range keys {
		d.events <- term.Event{Key: k}
	}
	synctest.Wait()
}

func (d *desk) sees(part string) {
	d.t.Helper()
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !strings.Contains(d.screen, part) {
		d.t.Errorf("the screen does not show %q:\n%s", part, d.screen)
	}
}

// ending is how Loop has ended.
type ending struct {
	sig   syscall.Signal
	err   error
	panic any
}

// sit runs the loop.
func (d *desk) sit(ctx context.Context) chan ending {
	end := make(chan ending, 1)
	go func() {
		var e ending
		defer func() {
			e.panic = recover()
			end <- e
		}()
		e.sig, e.err = Loop(ctx, d, d, 2*time.Second)
	}()
	synctest.Wait()
	return end
}

func TestLoop_Refreshes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		end := d.sit(t.Context())
		if n := d.looked(); n != 1 {
			t.Errorf("it looks %d times at the start", n)
		}
		d.sees("1f0c9a3e")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := d.looked(); n != 6 {
			t.Errorf("it looks %d times in ten seconds", n)
		}
		d.press(term.KeyDown, term.KeyEnter)
		d.sees("API Error: 429")
		d.press(term.KeyEscape, "x", "y")
		d.sees("it is done")
		if len(d.did) != 1 || d.did[0].Kind != Cancel || d.did[0].Run.ID != example().Runs[1].ID {
			t.Errorf("it has done %+v", d.did)
		}
		d.press("q")
		if e := <-end; e != (ending{}) {
			t.Errorf("it ends with %+v", e)
		}
	})
}

// A source that hangs, as on a disk that does, does not hold up the keys.
func TestLoop_SourceHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		released := make(chan struct{})
		d.snapshot = func() Snapshot { <-released; return Snapshot{} }
		end := d.sit(t.Context())
		d.sees("loading …")
		time.Sleep(time.Minute)
		d.press("?")
		d.sees("switch between runs and gates")
		d.press("q")
		if e := <-end; e != (ending{}) {
			t.Errorf("it ends with %+v", e)
		}
		close(released)
	})
}

// However it ends, Loop comes back, so that the terminal can be restored.
func TestLoop_Ends(t *testing.T) {
	for name, tt := range map[string]struct {
		event term.Event
		want  ending
	}{
		"CtrlC":       {term.Event{Key: term.KeyCtrlC}, ending{}},
		"SIGINT":      {term.Event{Signal: syscall.SIGINT}, ending{}},
		"SIGTERM":     {term.Event{Signal: syscall.SIGTERM}, ending{sig: syscall.SIGTERM}},
		"HangUp":      {term.Event{Err: io.EOF}, ending{err: io.EOF}},
		"ScreenPanic": {term.Event{Panic: "oops"}, ending{panic: "oops"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				end := d.sit(t.Context())
				d.events <- tt.event
				if e := <-end; e != tt.want {
					t.Errorf("it ends with %+v, want %+v", e, tt.want)
				}
			})
		})
	}
	t.Run("SourcePanic", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			d.snapshot = func() Snapshot { panic("oops") }
			if e := <-d.sit(t.Context()); !strings.HasPrefix(fmt.Sprint(e.panic), "oops") {
				t.Errorf("it ends with %+v", e)
			}
		})
	})
	t.Run("Context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			end := newDesk(t).sit(ctx)
			cancel()
			if e := <-end; e.err == nil {
				t.Errorf("it ends with %+v", e)
			}
		})
	})
}
