package top

import (
	"context"
	"fmt"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// Screen is what [Loop] draws on; a [term.Fullscreen] is one.
type Screen interface {
	Events() <-chan term.Event
	Size() (columns, lines int)
	Draw([]term.Row) error
}

// Loop shows the screen until the user quits, a signal asks for it or the context ends; the signal is 0 in the first case. The source
// is asked every interval, in a goroutine of its own: a slow disk does not hold up the keys.
func Loop(ctx context.Context, screen Screen, source Source, interval time.Duration) (syscall.Signal, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	work := newWorker(ctx, source)
	m := &Model{Snapshot: Snapshot{At: time.Now()}}
	m.Say("loading …")
	work.look(nil)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		columns, lines := screen.Size()
		m.Fit(columns, lines)
		if err := screen.Draw(m.Rows(columns, lines)); err != nil {
			return 0, err
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-tick.C:
			work.look(m)
		case found := <-work.found:
			if found.panicked != nil {
				panic(found.panicked)
			}
			if found.said == "" && m.message == "loading …" {
				m.Say("")
			}
			m.Update(found.snapshot)
			m.SetLines(found.run, found.lines)
			if found.said != "" {
				m.Say(found.said)
			}
		case e := <-screen.Events():
			switch {
			case e.Panic != nil:
				panic(e.Panic)
			case e.Err != nil:
				return 0, e.Err
			case e.Signal == syscall.SIGINT: // Ctrl-C is a key here
				return 0, nil
			case e.Signal != 0:
				return e.Signal, nil
			case e.Key == "":
				continue // Redraw
			}
			switch a := m.Press(e.Key); a.Kind {
			case Quit:
				return 0, nil
			case Refresh:
				work.look(m)
			case Cancel, Reap, Reset:
				work.do(a, m)
			}
		}
	}
}

// worker looks and acts, one thing at a time.
type worker struct {
	asked chan task
	found chan finding
}

// task is what a worker is to do before it looks again.
type task struct {
	action Action
	run    supervise.Record // whose lines are wanted
	lines  bool
}

// finding is what it has found.
type finding struct {
	snapshot Snapshot
	run      string // the id of the one whose lines these are
	lines    []journal.Entry
	said     string
	panicked any
}

// maxTasks is how many actions can wait for a worker that hangs. The others are dropped: the user will ask again.
const maxTasks = 8

func newWorker(ctx context.Context, source Source) *worker {
	w := &worker{asked: make(chan task, maxTasks), found: make(chan finding)}
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case t := <-w.asked:
				f := perform(source, t)
				select {
				case w.found <- f:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return w
}

// perform does a task. A panic is given to the loop, which has the terminal to bring back.
func perform(source Source, t task) (f finding) {
	defer func() {
		if r := recover(); r != nil {
			f.panicked = fmt.Sprintf("%v, while looking: %s", r, debug.Stack())
		}
	}()
	if t.action.Kind != Nothing {
		f.said = source.Do(t.action)
	}
	f.snapshot = source.Snapshot()
	if t.lines {
		f.run, f.lines = t.run.ID, source.Lines(t.run)
	}
	return f
}

// look has the worker look again, unless it is at it.
func (w *worker) look(m *Model) {
	if len(w.asked) == 0 {
		w.do(Action{}, m)
	}
}

func (w *worker) do(a Action, m *Model) {
	t := task{action: a}
	if m != nil {
		t.run, t.lines = m.Looked()
	}
	select {
	case w.asked <- t:
	default:
	}
}
