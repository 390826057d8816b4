package mcp

import (
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// clientOut writes lines to the client in the order in which they were put. A caller that puts borrowed bytes calls flush
// before they are reused. Only the reader of the server's stdout does so: a client that does not read blocks that reader,
// and with it the server, but nothing else.
type clientOut struct {
	w      io.Writer
	broken func() // the client is gone

	mu    sync.Mutex
	queue [][]byte // the parts of lines, their ends included

	writing chan struct{} // holds one while lines are written; a mutex could not be waited for in fake time
	taken   [][]byte
	small   []byte
	failed  bool

	wake chan struct{}

	begun time.Time
	moved atomic.Int64 // how long after that the client last took something
}

func newClientOut(w io.Writer, broken func()) *clientOut {
	return &clientOut{w: w, broken: broken, wake: make(chan struct{}, 1), writing: make(chan struct{}, 1), begun: time.Now()}
}

var newline = []byte{'\n'}

func (o *clientOut) put(parts [][]byte) {
	o.mu.Lock()
	o.queue = append(append(o.queue, parts...), newline)
	o.mu.Unlock()
}

// wakeWriter has run write what was put, without waiting for it.
func (o *clientOut) wakeWriter() {
	o.mu.Lock()
	waiting := len(o.queue) > 0
	o.mu.Unlock()
	if !waiting {
		return
	}
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// run writes for callers that must not wait, until stop is closed.
func (o *clientOut) run(stop <-chan struct{}) {
	for {
		select {
		case <-o.wake:
			o.flush()
		case <-stop:
			return
		}
	}
}

// maxJoined is the size up to which lines are written together: a copy costs less than a system call.
const maxJoined = 64 << 10

// flush writes all that was put before.
func (o *clientOut) flush() {
	o.writing <- struct{}{}
	defer func() { <-o.writing }()
	o.mu.Lock()
	o.queue, o.taken = o.taken[:0], o.queue
	o.mu.Unlock()
	for _, p := range o.taken {
		if len(o.small)+len(p) > maxJoined {
			o.write(o.small)
			o.small = o.small[:0]
		}
		if len(p) > maxJoined {
			o.write(p)
		} else {
			o.small = append(o.small, p...)
		}
	}
	o.write(o.small)
	o.small = o.small[:0]
	clear(o.taken)
}

func (o *clientOut) write(b []byte) {
	if len(b) == 0 || o.failed {
		return
	}
	_, err := o.w.Write(b)
	o.hasMoved()
	if err != nil {
		o.failed = true
		go o.broken()
	}
}

func (o *clientOut) hasMoved() { o.moved.Store(int64(time.Since(o.begun))) }

// idle is how long the client has taken nothing.
func (o *clientOut) idle() time.Duration {
	return time.Since(o.begun) - time.Duration(o.moved.Load())
}
