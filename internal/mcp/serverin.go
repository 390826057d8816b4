package mcp

import (
	"os"
	"sync"
)

// serverIn writes lines to a server's stdin in the order in which they were put. It never makes its callers wait: what
// the pipe does not take at once is copied and written by a goroutine of its own.
type serverIn struct {
	file *os.File
	try  func([]byte) (int, error) // writes what it can without waiting; nil where the system has no such thing

	mu      sync.Mutex
	moved   sync.Cond // something was written, or nothing will be any more
	queue   [][]byte
	own     int // of the queue's parts, how many at its front are not borrowed
	small   []byte
	writing bool // the goroutine is at it
	closing bool
	broken  bool
}

func newServerIn(file *os.File) *serverIn {
	o := &serverIn{file: file, try: tryWrite(file)}
	o.moved.L = &o.mu
	return o
}

func (o *serverIn) put(parts [][]byte) {
	o.mu.Lock()
	if !o.broken && !o.closing {
		o.queue = append(append(o.queue, parts...), newline)
	}
	o.mu.Unlock()
}

// flush writes what was put, or makes it its own.
func (o *serverIn) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 || o.broken {
		o.queue, o.own = o.queue[:0], 0
		return
	}
	if !o.writing && o.try != nil && o.tryAll() {
		return
	}
	for i := o.own; i < len(o.queue); i++ {
		o.queue[i] = append([]byte(nil), o.queue[i]...)
	}
	o.own = len(o.queue)
	if !o.writing {
		o.writing = true
		go o.run()
	}
}

// tryAll writes the queue as far as the pipe takes it, and reports whether that is all.
func (o *serverIn) tryAll() bool {
	for len(o.queue) > 0 {
		// Small parts go out together: a copy costs less than a system call.
		block, parts := o.queue[0], 1
		if len(block) < maxJoined && len(o.queue) > 1 {
			o.small = append(o.small[:0], block...)
			for parts < len(o.queue) && len(o.small)+len(o.queue[parts]) <= maxJoined {
				o.small = append(o.small, o.queue[parts]...)
				parts++
			}
			block = o.small
		}
		n, err := o.try(block)
		if err != nil {
			o.fail()
			return true
		}
		if n < len(block) {
			rest := append([]byte(nil), block[n:]...)
			o.queue = append([][]byte{rest}, o.queue[parts:]...)
			o.own = 1
			return false
		}
		o.queue = o.queue[parts:]
	}
	o.queue, o.own = nil, 0
	return true
}

// run writes the queue, waiting for the server where it must.
func (o *serverIn) run() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.queue) > 0 && o.own > 0 && !o.broken {
		part := o.queue[0]
		o.queue, o.own = o.queue[1:], o.own-1
		o.mu.Unlock()
		_, err := o.file.Write(part)
		o.mu.Lock()
		o.moved.Broadcast()
		if err != nil {
			o.fail()
		}
	}
	o.writing = false
	if o.closing {
		o.file.Close()
	}
}

// fail is called when the server does not read any more. It either has ended or hangs, which is noticed elsewhere.
func (o *serverIn) fail() {
	o.broken, o.queue, o.own = true, nil, 0
	o.moved.Broadcast()
}

// backlog is how much may wait for a server that does not read, before the client has to wait too.
const backlog = 64 << 20

// waitForRoom blocks while the queue is too long. Only the reader of the client's lines calls it: all others must go on.
func (o *serverIn) waitForRoom() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.writing && !o.broken {
		size := 0
		for _, part := range o.queue {
			size += len(part)
		}
		if size < backlog {
			return
		}
		o.moved.Wait()
	}
}

// close ends the stream once all is written.
func (o *serverIn) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closing {
		return
	}
	if o.closing = true; !o.writing {
		o.file.Close()
	}
}

// abort ends the stream now.
func (o *serverIn) abort() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fail()
	if !o.closing || o.writing {
		o.closing = true
		o.file.Close()
	}
}
