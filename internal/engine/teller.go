package engine

import (
	"bytes"
	"sync"

	"github.com/belay-run/belay/internal/agent"
)

// teller writes the standard error of an agent whose follower tells people what it does: that, and what the CLI itself writes, in
// the order in which both came. What is told may have to be waited for; nothing else waits for that.
type teller struct {
	to   *sink
	over chan struct{} // closed when the attempt is over
	done chan struct{} // closed when all is written

	mu    sync.Mutex
	more  *sync.Cond
	queue []toldPiece
	begun bool // there has been something to write
	ended bool
	said  string // what was told last
}

// toldPiece is a piece of the standard error: what the CLI has written, or something that is told.
type toldPiece struct {
	raw     []byte
	telling *agent.Telling
	held    bool
}

// maxTold is how much is kept of what was told last: enough to see whether it says why the attempt failed.
const maxTold = 64 << 10

func newTeller(to *sink) *teller {
	t := &teller{to: to, over: make(chan struct{}), done: make(chan struct{})}
	t.more = sync.NewCond(&t.mu)
	return t
}

// Write implements [io.Writer]: the CLI itself has written something.
func (t *teller) Write(p []byte) (int, error) {
	t.put(toldPiece{raw: bytes.Clone(p)})
	return len(p), nil
}

// telling tells something. If held is true it says that the attempt has failed.
func (t *teller) telling(what *agent.Telling, held bool) { t.put(toldPiece{telling: what, held: held}) }

func (t *teller) put(p toldPiece) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queue = append(t.queue, p)
	if !t.begun {
		t.begun = true
		go t.write()
	}
	t.more.Signal()
}

func (t *teller) write() {
	defer close(t.done)
	for {
		t.mu.Lock()
		for len(t.queue) == 0 && !t.ended {
			t.more.Wait()
		}
		if len(t.queue) == 0 {
			t.mu.Unlock()
			return
		}
		next := t.queue[0]
		t.queue = t.queue[1:]
		t.mu.Unlock()
		if next.telling == nil {
			t.to.Write(next.raw)
		} else if text := next.telling.Text(t.over); text != "" {
			t.to.progress([]byte(text), next.held)
			t.said = text[:min(len(text), maxTold)]
		}
	}
}

// close waits until all is written.
func (t *teller) close() {
	if t == nil {
		return
	}
	t.mu.Lock()
	if !t.ended {
		t.ended = true
		close(t.over)
	}
	t.more.Signal()
	begun := t.begun
	t.mu.Unlock()
	if begun {
		<-t.done
	}
}

// last is what was told last, once it is closed.
func (t *teller) last() string {
	if t == nil {
		return ""
	}
	return t.said
}
