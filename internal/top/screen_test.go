package top

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/supervise"
)

// session is a screen, the source behind it, and a loop as that of package tea.
type session struct {
	t        *testing.T
	screen   *screen
	messages chan tea.Msg
	ended    chan struct{}
	mu       sync.Mutex
	shown    string
	looks    int
	did      []Action
	snapshot func() Snapshot
}

func newSession(t *testing.T) *session {
	d := &session{t: t, messages: make(chan tea.Msg), ended: make(chan struct{}), snapshot: func() Snapshot {
		s := example()
		s.At = time.Now()
		return s
	}}
	d.screen = newScreen(d, 2*time.Second)
	return d
}

func (d *session) Snapshot() Snapshot {
	d.mu.Lock()
	d.looks++
	d.mu.Unlock()
	return d.snapshot()
}

// looked is how often it has looked.
func (d *session) looked() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.looks
}

func (d *session) Lines(supervise.Record) []journal.Entry { return lines() }
func (d *session) Do(a Action) string                     { d.did = append(d.did, a); return "it is done" }

// start runs the loop until the screen quits.
func (d *session) start() {
	d.run(d.screen.Init())
	go func() {
		defer close(d.ended)
		for m := range d.messages {
			if _, quit := m.(tea.QuitMsg); quit {
				return
			}
			_, cmd := d.screen.Update(m)
			d.mu.Lock()
			d.shown = ansi.Strip(d.screen.View().Content)
			d.mu.Unlock()
			d.run(cmd)
		}
	}()
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
}

// run runs a command, or several.
func (d *session) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		switch m := cmd().(type) {
		case tea.BatchMsg:
			for _, cmd := range m {
				d.run(cmd)
			}
		default:
			d.send(m)
		}
	}()
}

func (d *session) send(m tea.Msg) {
	select {
	case d.messages <- m:
	case <-d.ended:
	}
}

// press presses keys one after the other.
func (d *session) press(keys ...tea.Key) {
	for _, k := range keys {
		d.send(tea.KeyPressMsg(k))
	}
	synctest.Wait()
}

func letter(r rune) tea.Key { return tea.Key{Code: r, Text: string(r)} }

func (d *session) sees(part string) {
	d.t.Helper()
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !strings.Contains(d.shown, part) {
		d.t.Errorf("the screen does not show %q:\n%s", part, d.shown)
	}
}

func TestScreen_Refreshes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newSession(t)
		d.start()
		synctest.Wait()
		if n := d.looked(); n != 1 {
			t.Errorf("it looks %d times at the start", n)
		}
		d.sees("1f0c9a3e")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := d.looked(); n != 6 {
			t.Errorf("it looks %d times in ten seconds", n)
		}
		d.press(tea.Key{Code: tea.KeyDown}, tea.Key{Code: tea.KeyEnter})
		d.sees("API Error: 429")
		d.press(tea.Key{Code: tea.KeyEscape}, letter('x'), letter('y'))
		d.sees("it is done")
		if len(d.did) != 1 || d.did[0].Kind != Cancel || d.did[0].Run.ID != example().Runs[1].ID {
			t.Errorf("it has done %+v", d.did)
		}
		d.press(letter('q'))
		<-d.ended
		time.Sleep(time.Minute) // for the last tick
	})
}

// A source that hangs, as on a disk that does, does not hold up the keys.
func TestScreen_SourceHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newSession(t)
		released := make(chan struct{})
		d.snapshot = func() Snapshot { <-released; return Snapshot{} }
		d.start()
		d.sees("loading …")
		time.Sleep(time.Minute)
		d.press(letter('?'))
		d.sees("switch between runs and gates")
		d.press(tea.Key{Code: 'c', Mod: tea.ModCtrl})
		<-d.ended
		close(released)
		time.Sleep(time.Minute)
	})
}

// A panic comes out of Show, with the terminal as it was.
func TestShow_Panics(t *testing.T) {
	d := newSession(t)
	d.snapshot = func() Snapshot { panic("oops") }
	defer func() {
		if r := recover(); !strings.Contains(fmt.Sprint(r), "panic") {
			t.Errorf("it panics with %v", r)
		}
	}()
	Show(t.Context(), nil, io.Discard, true, nil, d, time.Hour)
}
