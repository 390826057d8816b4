package verdict

import "sync"

// Capture is an [io.Writer] that keeps the head and the tail of what is written
// to it and forgets the rest. It never fails, needs no more memory than head
// and tail, and takes that only as it fills: most commands print a few lines.
//
// Writing and reading may happen at the same time: another process that holds
// the pipe open can write after the command has ended.
type Capture struct {
	mu        sync.Mutex
	head      []byte
	tail      []byte // a ring once it is full
	next      int    // where the ring goes on
	headLimit int
	tailLimit int
	size      int64
}

// NewCapture returns a capture that keeps that many bytes of each end.
func NewCapture(head, tail int) *Capture {
	return &Capture{headLimit: max(head, 0), tailLimit: max(tail, 0)}
}

// Write takes note of p. It always returns len(p) and nil.
func (c *Capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	c.size += int64(n)
	if room := c.headLimit - len(c.head); room > 0 {
		take := min(room, len(p))
		c.head = append(c.head, p[:take]...)
		p = p[take:]
	}
	if room := c.tailLimit - len(c.tail); room > 0 {
		take := min(room, len(p))
		c.tail = append(c.tail, p[:take]...)
		p = p[take:]
	}
	c.rotate(p)
	return n, nil
}

// rotate writes p over the oldest bytes of a full ring.
func (c *Capture) rotate(p []byte) {
	if len(p) == 0 || c.tailLimit == 0 {
		return
	}
	if len(p) >= c.tailLimit {
		copy(c.tail, p[len(p)-c.tailLimit:])
		c.next = 0
		return
	}
	done := copy(c.tail[c.next:], p)
	copy(c.tail, p[done:])
	c.next = (c.next + len(p)) % c.tailLimit
}

// Excerpt returns what is kept at this moment. The excerpt is a copy.
func (c *Capture) Excerpt() Excerpt {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := Excerpt{Size: c.size}
	if c.size <= int64(len(c.head)+len(c.tail)) { // nothing lost, so next is 0
		e.Head = make([]byte, 0, c.size)
		e.Head = append(append(e.Head, c.head...), c.tail...)
		return e
	}
	e.Head = append(make([]byte, 0, len(c.head)), c.head...)
	e.Tail = make([]byte, 0, len(c.tail))
	e.Tail = append(append(e.Tail, c.tail[c.next:]...), c.tail[:c.next]...)
	return e
}
